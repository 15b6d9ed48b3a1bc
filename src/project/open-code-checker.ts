import { join } from 'node:path'
import { checkPython, type ModuleProblem } from '../core/check/check-python.ts'
import { checkTypeScript } from '../core/check/check-typescript.ts'
import { type CodeBlock, findCodeBlocks } from '../core/check/code-blocks.ts'
import type { PackageProblem } from '../core/check/code-imports.ts'
import type { Finding } from '../core/check/finding.ts'
import { ModuleGraph, packageNameOf } from '../core/check/module-graph.ts'
import { PythonModules } from '../core/check/python-modules.ts'
import { TypeResolver } from '../core/check/resolver.ts'
import { copyTree, type SyntaxNode } from '../core/check/syntax-tree.ts'
import type { Grammars } from '../core/chunk/code-grammars.ts'
import type { GrammarName } from '../core/chunk/languages.ts'
import { PARSER_FAILED } from '../core/chunk/piece.ts'
import { PharosError } from '../core/errors.ts'
import type { CheckedCode, CheckedPlace, CodeChecker, CodeInput } from '../library/ports/code-checker.ts'
import type { ProjectPackage, ProjectPackages } from '../library/ports/projects.ts'
import { openDeclarationFiles } from './declaration-files.ts'
import { openPythonFiles } from './python-files.ts'
import { slashPath } from './slash-path.ts'

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
  let known: KnownDeclarations | undefined
  return {
    async check(input) {
      const project = await read()
      opening ??= openGrammars()
      const grammars = await opening
      await grammars.prepare(['typescript', 'tsx', 'python'])
      const key = JSON.stringify(project.packages)
      const kept = known === undefined ? 0 : known.resolver.graph.loadedChars + known.python.loadedChars
      if (known?.key !== key || kept > MAX_KEPT_CHARS) known = openDeclarations(key, project, grammars)
      const checked = checkInput(input, project, grammars, known)
      if (!known.resolver.graph.isStale) return checked
      known = openDeclarations(key, project, grammars)
      return checkInput(input, project, grammars, known)
    },
  }
}

/** The declarations of the packages that a project has locked. */
interface KnownDeclarations {
  /** The packages, as text. */
  readonly key: string
  readonly resolver: TypeResolver
  readonly python: PythonModules
}

function openDeclarations(key: string, { packages }: ProjectPackages, grammars: Grammars): KnownDeclarations {
  const files = openDeclarationFiles()
  const graph = new ModuleGraph(files, (text, row) => parse(grammars, 'typescript', text, row))
  const python = new PythonModules(openPythonFiles(packages, files), (text) => parse(grammars, 'python', text))
  return { key, resolver: new TypeResolver(graph), python }
}

function checkInput(
  input: CodeInput,
  project: ProjectPackages,
  grammars: Grammars,
  { resolver, python }: KnownDeclarations,
): CheckedCode {
  const { code, language } = input
  const path = slashPath(input.path ?? join(project.folder, 'code.ts'))
  const blocks: CodeBlock[] =
    language === 'markdown'
      ? findCodeBlocks(code)
      : [{ language: language === 'python' ? 'python' : 'typescript', code, row: 0 }]
  const places: CheckedPlace[] = []
  const notes: string[] = []
  const earlier: { readonly language: string; readonly root: SyntaxNode }[] = []
  const byName = { npm: groupByName(project, 'npm'), pypi: groupByName(project, 'pypi') }
  const problemOf = createProblems(byName.npm)
  for (const block of blocks) {
    const isPython = block.language === 'python'
    const root = isPython ? parse(grammars, 'python', block.code) : parseCode(grammars, block.code)
    if (root === undefined) {
      notes.push(`the code from line ${block.row + 1} cannot be parsed`)
      continue
    }
    const before = earlier.filter((one) => one.language === block.language).map((one) => one.root)
    const findings = isPython
      ? checkPython(python, root, createPythonProblems(project, python), before)
      : checkTypeScript(resolver, { root, path, problemOf, earlier: before })
    places.push(...findings.map((finding) => describe(finding, block.row, byName[isPython ? 'pypi' : 'npm'])))
    earlier.push({ language: block.language, root })
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

function parse(grammars: Grammars, name: GrammarName, text: string, row = 0): SyntaxNode | undefined {
  const parser = grammars.parser(name)
  const tree = parser?.read(text, (root) => copyTree(root, text, row))
  if (tree === PARSER_FAILED) throw new PharosError('USAGE', { problem: 'the parser failed: start the program again' })
  return tree
}

/** Packages of a project by name. */
type PackagesByName = ReadonlyMap<string, readonly ProjectPackage[]>

function groupByName({ packages }: ProjectPackages, type: string): PackagesByName {
  const groups = new Map<string, ProjectPackage[]>()
  for (const one of packages) if (one.type === type) groups.set(one.name, [...(groups.get(one.name) ?? []), one])
  return groups
}

/** Finds out why a module of Python cannot be looked up: its package is locked, but not installed. */
function createPythonProblems({ packages }: ProjectPackages, python: PythonModules): ModuleProblem {
  return (module) => {
    const [top = ''] = module.split('.')
    if (python.packageOf(top) !== undefined) return undefined
    // The name of the module is often that of the package.
    const locked = packages.find(({ type, name }) => type === 'pypi' && name.replaceAll('-', '_') === top.toLowerCase())
    return locked === undefined
      ? undefined
      : `${locked.name} ${locked.version ?? ''} is not installed`.replace('  ', ' ')
  }
}

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
