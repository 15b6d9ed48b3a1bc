import type { ModuleText } from '../core/declarations/declaration.ts'
import { listFolderModules, listModules, PackageExports } from '../core/declarations/package-modules.ts'
import { writeApiPages } from '../core/declarations/write-api-page.ts'
import { isJsonObject } from '../core/json/is-json-object.ts'
import { tryParseJson } from '../core/json/try-parse-json.ts'
import { decodeText } from '../core/text/decode.ts'
import type { Refusal } from '../crawl/ledger.ts'
import type { ArchiveContent } from './archive/content.ts'
import { MemberError, refuse } from './archive/members.ts'

/** Ending of the page that is made of a file with type declarations. */
const PAGE_ENDING = '.md'
const API_PAGE = /\.d\.[cm]?ts\.md$/i
const DECLARATIONS = /\.d\.[cm]?ts$/i
/** Type declarations of more bytes stay as they are. */
const MAX_BYTES = 20_000_000

/**
 * Adds API pages to the content of an npm package: one for each module, with the names it exports and their doc comments. Files whose
 * declarations are on a page are left out. A package whose modules are not known stays as it is.
 */
export async function withApiPages(
  content: ArchiveContent,
  title: string,
  readModule: (text: string) => Promise<ModuleText | undefined>,
): Promise<ArchiveContent> {
  const { files, refused } = content
  const declared = [...files.keys()].filter((path) => DECLARATIONS.test(path))
  const bytes = declared.reduce((sum, path) => sum + (files.get(path)?.size ?? 0), 0)
  if (declared.length === 0 || bytes > MAX_BYTES) return content
  const manifest = await readText(content, 'package.json')
  const has = (path: string) => files.has(path)
  const modules =
    manifest === undefined
      ? []
      : [...listModules(manifest, has), ...listFolderModules(manifest, await readFolderManifests(content), has)]
  const exports = new PackageExports(async (path) => {
    const text = await readText(content, path)
    return text === undefined ? undefined : readModule(text)
  }, has)
  const { pages, described: paths } = await writeApiPages(title, modules, exports)
  if (pages.size === 0) return content
  const made = new Map([...pages].map(([path, text]) => [path + PAGE_ENDING, new TextEncoder().encode(text)]))
  // `a.d.cts` and `a.d.ts` declare the same for two kinds of modules.
  const described = new Set([...paths].map(withoutEnding))
  const areOthersInternal = isClosed(manifest)
  const refuseFile = (path: string): Refusal | undefined => {
    if (!DECLARATIONS.test(path)) return undefined
    if (described.has(withoutEnding(path))) return refuse('excluded', 'described on an API page')
    return areOthersInternal ? refuse('excluded', 'not exported by the package') : undefined
  }
  const left = declared.flatMap((path): [string, Refusal][] => {
    const refusal = refuseFile(path)
    return refusal === undefined ? [] : [[path, refusal]]
  })
  const kept = [...files].filter(([path]) => refuseFile(path) === undefined)
  return {
    ...content,
    files: new Map([...kept, ...[...made].map(([path, page]) => [path, { size: page.length }] as const)]),
    refused: new Map([...refused, ...left]),
    read: async (path) => made.get(path) ?? content.read(path),
  }
}

/** The package.json files below that of a package. */
async function readFolderManifests(content: ArchiveContent): Promise<ReadonlyMap<string, string>> {
  const paths = [...content.files.keys()].filter(
    (path) => path.endsWith('/package.json') && !/(?:^|\/)node_modules\//.test(path),
  )
  const manifests = new Map<string, string>()
  for (const path of paths.slice(0, MAX_FOLDER_MODULES)) {
    const text = await readText(content, path)
    if (text !== undefined) manifests.set(path, text)
  }
  return manifests
}

/** Maximum number of folders of a package that are read as modules. */
const MAX_FOLDER_MODULES = 200

/** Whether an npm package has type declarations of its own. */
export function hasDeclarations({ files }: ArchiveContent): boolean {
  return [...files.keys()].some((path) => DECLARATIONS.test(path))
}

/** Adds the declarations and API pages of the `@types` package to the content of a package that has none. */
export function withTypes(content: ArchiveContent, types: ArchiveContent): ArchiveContent {
  const added = [...types.files].filter(([path]) => DECLARATIONS.test(sourceOfPage(path)))
  return {
    ...content,
    files: new Map([...content.files, ...added.map(([path, file]) => [TYPES_FOLDER + path, file] as const)]),
    read: (path) => {
      return path.startsWith(TYPES_FOLDER) ? types.read(path.slice(TYPES_FOLDER.length)) : content.read(path)
    },
    async close() {
      await content.close()
      await types.close()
    },
  }
}

/** No package of npm has a folder of this name. */
const TYPES_FOLDER = '@types/'

function withoutEnding(path: string): string {
  return path.replace(DECLARATIONS, '')
}

/** Whether package.json lists every module that can be imported, so that other files are internal. */
function isClosed(manifest: string | undefined): boolean {
  const json = tryParseJson(manifest ?? '')
  return (
    isJsonObject(json) &&
    isJsonObject(json['exports']) &&
    !Object.keys(json['exports']).some((key) => key.includes('*'))
  )
}

/** The file of a package that a page shows: an API page is made of its type declarations. */
export function sourceOfPage(path: string): string {
  return API_PAGE.test(path) ? path.slice(0, -PAGE_ENDING.length) : path
}

async function readText(content: ArchiveContent, path: string): Promise<string | undefined> {
  if (!content.files.has(path)) return undefined
  try {
    const decoded = decodeText(await content.read(path))
    return 'text' in decoded ? decoded.text : undefined
  } catch (error) {
    // A file that is damaged or too large is reported when it is read as a page.
    if (error instanceof MemberError) return undefined
    throw error
  }
}
