import { join } from 'node:path'
import { checkTypeScript } from '../core/check/check-typescript.ts'
import { type CodeBlock, findCodeBlocks } from '../core/check/code-blocks.ts'
import type { PackageProblem } from '../core/check/code-imports.ts'
import type { Finding } from '../core/check/finding.ts'
import { ModuleGraph, packageNameOf } from '../core/check/module-graph.ts'
import { TypeResolver } from '../core/check/resolver.ts'
import { copyTree, type SyntaxNode } from '../core/check/syntax-tree.ts'
import type { Grammars } from '../core/chunk/code-grammars.ts'
import type { GrammarName } from '../core/chunk/languages.ts'
import { PARSER_FAILED } from '../core/chunk/piece.ts'
import { PharosError } from '../core/errors.ts'
import type { CheckedCode, CheckedPlace, CodeChecker, CodeInput } from '../library/ports/code-checker.ts'
import type { ProjectPackage, ProjectPackages } from '../library/ports/projects.ts'
import { openDeclarationFiles, slashPath } from './declaration-files.ts'

/** Declarations that are kept between checks, in characters. Beyond that all are read again. */
const MAX_KEPT_CHARS = 60_000_000

/** What a checker needs. */
export interface CodeCheckerOptions {
  /** Reads the packages of the project. Called for each check, because the lock files may have changed. */
  readonly read: () => Promise<ProjectPackages>
  /** Opens the grammars. Called once. */
  readonly openGrammars: () => Promise<Grammars>
}

/** Opens a checker for the code of a project. It keeps the declarations that it has read. */
export function openCodeChecker({ read, openGrammars }: CodeCheckerOptions): CodeChecker {
  let opening: Promise<Grammars> | undefined
  let known: { readonly key: string; readonly resolver: TypeResolver; readonly graph: ModuleGraph } | undefined
  return {
    async check(input) {
      const project = await read()
      opening ??= openGrammars()
      const grammars = await opening
      await grammars.prepare(['typescript', 'tsx'])
      const key = JSON.stringify(project.packages)
      if (known?.key !== key || known.graph.loadedChars > MAX_KEPT_CHARS) {
        const graph = new ModuleGraph(openDeclarationFiles(), (text) => parse(grammars, 'typescript', text))
        known = { key, graph, resolver: new TypeResolver(graph) }
      }
      return checkInput(input, project, grammars, known.resolver)
    },
  }
}

function checkInput(
  input: CodeInput,
  project: ProjectPackages,
  grammars: Grammars,
  resolver: TypeResolver,
): CheckedCode {
  const { code, language } = input
  const path = slashPath(input.path ?? join(project.folder, 'code.ts'))
  const blocks: CodeBlock[] =
    language === 'markdown' ? findCodeBlocks(code) : [{ language: 'typescript', code, row: 0 }]
  const places: CheckedPlace[] = []
  const notes: string[] = []
  const earlier: SyntaxNode[] = []
  const npm = new Map<string, ProjectPackage[]>()
  for (const one of project.packages) if (one.type === 'npm') npm.set(one.name, [...(npm.get(one.name) ?? []), one])
  const problemOf = createProblems(npm)
  for (const block of blocks) {
    const root = parseCode(grammars, block.code)
    if (root === undefined) {
      notes.push(`the code from line ${block.row + 1} cannot be parsed`)
      continue
    }
    const findings = checkTypeScript(resolver, { root, path, problemOf, earlier })
    places.push(...findings.map((finding) => describe(finding, block.row, npm)))
    earlier.push(root)
  }
  return { places, notes }
}

/** JavaScript may contain JSX; TypeScript may contain casts that look like JSX. */
function parseCode(grammars: Grammars, code: string): SyntaxNode | undefined {
  const root = parse(grammars, 'tsx', code)
  if (root !== undefined && !hasError(root)) return root
  const other = parse(grammars, 'typescript', code)
  return other !== undefined && (root === undefined || !hasError(other)) ? other : root
}

function hasError({ type, children }: SyntaxNode): boolean {
  return type === 'ERROR' || children.some(hasError)
}

function parse(grammars: Grammars, name: GrammarName, text: string): SyntaxNode | undefined {
  const parser = grammars.parser(name)
  const tree = parser?.read(text, (root) => copyTree(root, text))
  if (tree === PARSER_FAILED) throw new PharosError('USAGE', { problem: 'the parser failed: start the program again' })
  return tree
}

/** Packages of a project by name. */
type PackagesByName = ReadonlyMap<string, readonly ProjectPackage[]>

/** Finds out why a package cannot be looked up: the project has locked another version than the installed one. */
function createProblems(byName: PackagesByName): PackageProblem {
  return (name, installed) => {
    const locked = (byName.get(name) ?? []).flatMap(({ version }) => (version === null ? [] : [version]))
    const [version] = locked
    if (version === undefined) return undefined
    if (installed === undefined) return `${name} ${version} is not installed`
    if (locked.includes(installed)) return undefined
    return `${name} ${installed} is installed, but ${locked.join(', ')} is locked`
  }
}

function describe(finding: Finding, row: number, byName: PackagesByName): CheckedPlace {
  const { kind, name, line, column, verdict, at, nearest, why, module } = finding
  const packages = byName.get(at?.package.name ?? packageNameOf(module ?? '')) ?? []
  const own = packages.find(({ version }) => at === undefined || version === at.package.version)
  const label = at === undefined ? undefined : `${at.package.name}@${at.package.version}`
  return {
    ...{ kind, name, line: line + row, column, why },
    verdict: verdict === 'missing' ? 'not in this version' : verdict,
    package: label ?? (own === undefined ? null : `${own.name}@${own.version ?? 'not locked'}`),
    address: own?.address ?? null,
    declaredAt: at === undefined ? null : `${at.path.slice(at.package.folder.length + 1)}:${at.line}`,
    nearest: nearest ?? null,
    inVersions: [],
  }
}
