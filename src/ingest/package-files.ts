import { baseName, extensionOf } from '../core/text/path.ts'
import type { Refusal } from '../crawl/ledger.ts'
import { refuse } from './archive/members.ts'
import type { PackageKind } from './registry/package-archive.ts'

/** Which files of a kind of package are read besides its prose. */
interface Selection {
  /** Code files that show how the package is used. */
  readonly code: RegExp
  /** Folders that are skipped at any depth. */
  readonly folders: Readonly<Record<string, string>>
  /** Folders that are skipped at the top level. */
  readonly topFolders?: Readonly<Record<string, string>>
  /** Files that are skipped although another rule would read them. */
  readonly files?: RegExp
}

const TESTS = 'tests'
const VENDORED = 'code of others'
const BENCHMARKS = 'benchmarks'
const INTERNAL = 'not for readers'

const SKIPPED_FOLDERS: Readonly<Record<string, string>> = {
  ...mapNames('node_modules bower_components vendor vendored _vendor _vendored third_party thirdparty', VENDORED),
  ...mapNames('tests __tests__ __mocks__ __snapshots__ fixtures __fixtures__', TESTS),
  ...mapNames('bench benches benchmark benchmarks', BENCHMARKS),
  ...mapNames('META-INF __pycache__', INTERNAL),
}

const PYTHON: Selection = {
  code: /\.pyi?$/i,
  folders: SKIPPED_FOLDERS,
  // Deeper down, a folder named `test` may be part of the package, as in Django.
  topFolders: mapNames('test', TESTS),
  files: /(?:^|\/)(?:setup|conftest|test_[^/]*|[^/]*_test)\.py$/i,
}

const SELECTIONS: Readonly<Record<PackageKind, Selection>> = {
  npm: {
    code: /\.d\.[cm]?ts$/i,
    folders: { ...SKIPPED_FOLDERS, ...mapNames('test', TESTS) },
    files: /\.(?:test|spec)(?:-d)?\.d\.[cm]?ts$/i,
  },
  sdist: PYTHON,
  // METADATA contains the package description after some header fields.
  wheel: { ...PYTHON, code: /\.pyi?$|^[^/]+\.dist-info\/METADATA$/i },
  crate: { code: /^(?:src|examples)\/.*\.rs$/i, folders: SKIPPED_FOLDERS },
  sources: {
    code: /\.(?:java|kt|kts|scala|groovy|clj)$/i,
    folders: SKIPPED_FOLDERS,
    files: /(?:^|\/)module-info\.java$/,
  },
  go: {
    // Doc comments precede the declarations; https://go.dev/doc/comment
    code: /\.go$/i,
    folders: { ...SKIPPED_FOLDERS, ...mapNames('testdata', TESTS), ...mapNames('internal', INTERNAL) },
    files: /(?:_test|\.pb|\.pb\.gw|(?<![^/])zz_generated[^/]*)\.go$/i,
  },
  javadoc: {
    code: /\.html?$/i,
    folders: { ...SKIPPED_FOLDERS, ...mapNames('class-use index-files script-dir resources legal jquery', INTERNAL) },
    // Lists of links, which the class pages contain too.
    files:
      /(?:^|\/)(?:index-all|all(?:classes|packages)[^/]*|[^/]*-(?:tree|frame|use)|deprecated-list|constant-values|serialized-form|help-doc|search)\.html?$/i,
  },
}

/** File extensions of prose. */
const PROSE = new Set('md markdown mdx rst adoc asciidoc org'.split(' '))
/** Further extensions in documentation folders. */
const DOC_EXTENSIONS = new Set('txt html htm ipynb'.split(' '))
const DOC_FOLDER = /(?:^|\/)(?:docs?|documentation|guides?|examples?|manual)\//i
/** Names of prose files without an extension, or with `.txt`. */
const PROSE_NAME =
  /^(?:readme|changelog|changes|history|news|releases?|migrat\w+|upgrad\w+|usage|tutorial|faq)\b[^/]*$/i
/** Files about the project rather than its function. */
const PROJECT_FILE =
  /^(?:licen[cs]e|copying|notice|patents|authors|contributors|maintainers|code[-_]of[-_]conduct|security|codeowners|funding|pull_request_template|issue_template)\b/i

function mapNames(names: string, what: string): Record<string, string> {
  return Object.fromEntries(names.split(' ').map((name) => [name, what]))
}

/** The topmost skipped folder above a file, and why; undefined when there is none. */
export function findSkippedFolder(
  kind: PackageKind,
  path: string,
): { readonly folder: string; readonly refusal: Refusal } | undefined {
  const { folders, topFolders = {} } = SELECTIONS[kind]
  for (let from = 0, to = path.indexOf('/'); to >= 0; from = to + 1, to = path.indexOf('/', from)) {
    const name = path.slice(from, to)
    const listed = ownText(folders, name) ?? (from === 0 ? ownText(topFolders, name) : undefined)
    const hidden = name.startsWith('.') ? INTERNAL : undefined
    const reason = listed ?? hidden
    if (reason !== undefined) return { folder: path.slice(0, to + 1), refusal: refuse('excluded', reason) }
  }
  return undefined
}

function ownText(record: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined
}

/** Why a file of a package is not read; null for documentation and for code that shows how the package is used. */
export function judgePackageFile(kind: PackageKind, path: string): Refusal | null {
  const { code, files } = SELECTIONS[kind]
  const name = baseName(path)
  if (/[.-]min\.|\.bundle\./i.test(name)) return refuse('excluded', 'minified or bundled code')
  if (files?.test(path) === true) return refuse('excluded', kind === 'javadoc' ? 'lists of links' : INTERNAL)
  if (code.test(path)) return null
  if (PROJECT_FILE.test(name) || name.startsWith('.')) return refuse('excluded', INTERNAL)
  return isProse(path, name) ? null : refuse('excluded', 'neither documentation nor an interface')
}

function isProse(path: string, name: string): boolean {
  const extension = name.includes('.') ? extensionOf(path) : ''
  if (PROSE.has(extension)) return true
  if (PROSE_NAME.test(name) && (extension === '' || extension === 'txt')) return true
  return DOC_EXTENSIONS.has(extension) && DOC_FOLDER.test(path)
}
