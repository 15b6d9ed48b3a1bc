import { withoutBraces } from '../changes/signature.ts'
import { fenceFor, writeCodeSpan } from '../extract/write/escape.ts'
import { groupBy } from '../group-by.ts'
import type { Declaration, Parameter } from './declaration.ts'
import { writeDoc } from './doc-comment.ts'
import type { ExportedName, PackageExports, PackageModule } from './package-modules.ts'

/** A longer signature is cut. */
const MAX_SIGNATURE_CHARS = 1500
/** How deep objects of names within names are written. */
const MAX_DEPTH = 2

/** The API pages of a package. */
export interface ApiPages {
  /** By the path of the declarations of the module. */
  readonly pages: ReadonlyMap<string, string>
  /** Files whose exported declarations are on a page. */
  readonly described: ReadonlySet<string>
}

/**
 * Writes a page for each module of a package: each name it exports, with its doc comment, signature and members. A name that is described
 * elsewhere is only listed. A module without names has no page.
 */
export async function writeApiPages(
  title: string,
  modules: readonly PackageModule[],
  exports: PackageExports,
): Promise<ApiPages> {
  const pages = new Map<string, string>()
  const written = new Map<Declaration, string>()
  const described = new Set<string>()
  const nameOf = ({ subpath }: PackageModule) => (subpath === '.' ? title : title + subpath.slice(1))
  const drafts = new Map<string, ApiPage>()
  for (const module of modules) {
    const { path } = module
    if (drafts.has(path)) continue
    const aliases = modules.filter((other) => other !== module && other.path === path).map(nameOf)
    const page = new ApiPage(nameOf(module), aliases, written, described)
    page.add(await exports.list(path))
    for (const from of await exports.listExternal(path)) page.addExternal(from)
    drafts.set(path, page)
  }
  // All exported names are known before the first one that is not exported.
  for (const [path, page] of drafts) {
    await page.addInternal(exports)
    if (page.hasNames) pages.set(path, page.write())
  }
  return { pages, described: exports.withBarrels(described) }
}

/** Marks a declaration that the module does not export. */
const NOT_EXPORTED = '**Not exported.**'
/** Maximum number of declarations on a page that the module does not export. */
const MAX_INTERNAL = 300

/** The page of a module. */
class ApiPage {
  readonly #module: string
  readonly #aliases: readonly string[]
  /** The module that describes a declaration. */
  readonly #written: Map<Declaration, string>
  readonly #described: Set<string>
  readonly #blocks: string[] = []
  /** Names that are described elsewhere, by module; those of this module have another name here. */
  readonly #references = new Map<string, string[]>()
  readonly #externals: string[] = []
  readonly #labels = new Set<string>()
  /** Names that declarations inherit from or are made of, with the file that uses them. */
  readonly #parents: { readonly name: string; readonly path: string }[] = []
  #default = ''

  constructor(module: string, aliases: readonly string[], written: Map<Declaration, string>, described: Set<string>) {
    this.#module = module
    this.#aliases = aliases
    this.#written = written
    this.#described = described
  }

  get hasNames(): boolean {
    return this.#blocks.length + this.#references.size + this.#externals.length > 0
  }

  write(): string {
    const references = [...this.#references].map(([from, labels]) => {
      return `${from === this.#module ? 'Also exported:' : `As in \`${from}\`:`} ${labels.join(', ')}.`
    })
    const head = [
      ...(this.#aliases.length === 0 ? [] : [`Also imported as ${this.#aliases.map(writeCodeSpan).join(', ')}.`]),
      ...(this.#default === '' ? [] : [`Default export: \`${this.#default}\`.`]),
      ...this.#externals.map((from) => `Everything from ${writeCodeSpan(from)} too.`),
    ]
    return `${[`# API of ${this.#module}`, ...head, ...references, ...this.#blocks].join('\n\n')}\n`
  }

  /** Notes that the module exports all names of another package. */
  addExternal(from: string): void {
    this.#externals.push(from)
  }

  add(names: ReadonlyMap<string, ExportedName>, prefix = '', depth = 0): void {
    // Members of a namespace that the module exports by themselves are not repeated below it.
    const own = new Set([...names.values()].flatMap(({ declarations }) => declarations))
    for (const [name, found] of sortNames(names)) {
      const { declarations, inner, external, path } = found
      const ownName = name === 'default' ? (declarations[0]?.name ?? 'default') : name
      if (name === 'default' && depth === 0) {
        const other = [...names].find(([label, one]) => label !== 'default' && isSame(one, found))?.[0]
        this.#default = other ?? ownName
        if (other !== undefined) continue
      }
      const label = prefix + ownName
      if (inner !== null && depth < MAX_DEPTH) this.add(inner, name === 'default' ? prefix : `${label}.`, depth + 1)
      else if (external !== null) this.#blocks.push(`## ${writeCodeSpan(label)}`, `From ${writeCodeSpan(external)}.`)
      else if (inner === null) this.#describe(label, declarations, own, path)
    }
  }

  /** Adds what exported declarations inherit from or are made of, such as the parts of a type of options, if it is not exported. */
  async addInternal(exports: PackageExports): Promise<void> {
    const seen = new Set<string>()
    let count = 0
    for (let next = this.#parents.shift(); next !== undefined && count < MAX_INTERNAL; next = this.#parents.shift()) {
      const { name, path } = next
      const key = `${path} ${name}`
      if (seen.has(key) || this.#labels.has(name)) continue
      seen.add(key)
      const found = await exports.find(path, name)
      const fresh = found?.declarations.filter((one) => !this.#written.has(one)) ?? []
      if (found === undefined || fresh.length === 0) continue
      count++
      this.#describe(name, fresh, NO_DECLARATIONS, found.path, NOT_EXPORTED)
    }
  }

  #describe(
    label: string,
    declarations: readonly Declaration[],
    own: ReadonlySet<Declaration>,
    path: string,
    note = '',
  ): void {
    this.#described.add(path)
    this.#labels.add(label)
    const fresh = declarations.filter((one) => !this.#written.has(one))
    const [first] = declarations
    const from = fresh.length > 0 || first === undefined ? undefined : this.#written.get(first)
    // `z.object` is not listed again on the page that describes `object`.
    const isListed = from !== undefined && (from !== this.#module || !label.includes('.'))
    if (isListed) this.#references.set(from, [...(this.#references.get(from) ?? []), writeCodeSpan(label)])
    for (const one of fresh) {
      this.#written.set(one, this.#module)
      for (const name of listParents(one)) this.#parents.push({ name, path })
    }
    this.#blocks.push(...writeDeclarations(label, fresh, own, note))
  }
}

const NO_DECLARATIONS: ReadonlySet<Declaration> = new Set()

/** Names of the types that a declaration inherits from or is made of, and of the options that it takes. */
function listParents(declaration: Declaration): string[] {
  const { kind, heritage, type, parameters, members } = declaration
  const own =
    kind === 'class' ? (members.find((one) => one.kind === 'constructor')?.parameters ?? []) : (parameters ?? [])
  const taken = own.map((one) => one.type)
  const made = kind === 'type' || kind === 'variable' ? [type] : heritage
  // Members in braces are written with the declaration.
  return [...made, ...taken].flatMap((text) => withoutBraces(text).match(/(?<![\w$.'"])[A-Z][\w$]*(?![\w$.'"])/g) ?? [])
}

/** Whether two names stand for the same. */
function isSame(a: ExportedName, b: ExportedName): boolean {
  if (a.inner !== null || b.inner !== null) return a.inner === b.inner
  return a.declarations.length > 0 && a.declarations[0] === b.declarations[0]
}

/**
 * Objects of names come last, so that a declaration has its shortest name. But if such an object has most of the names of the module, users
 * write its name before them: `z.object`.
 */
function sortNames(names: ReadonlyMap<string, ExportedName>): (readonly [string, ExportedName])[] {
  const rankOf = ({ inner }: ExportedName) => {
    if (inner === null) return 1
    const shared = [...inner.keys()].filter((name) => names.has(name)).length
    return shared * 2 > names.size ? 0 : 2
  }
  return [...names].sort(([, a], [, b]) => rankOf(a) - rankOf(b))
}

/** Writes the declarations of one name under one heading: all overloads together. */
function writeDeclarations(
  name: string,
  declarations: readonly Declaration[],
  own: ReadonlySet<Declaration>,
  note: string,
): string[] {
  const [first] = declarations
  if (first === undefined) return []
  const docs = new Set(declarations.map(({ doc }) => writeDoc(doc)).filter((doc) => doc !== ''))
  const members = declarations.flatMap((one) => one.members.filter((member) => !own.has(member)))
  const heading = `## ${writeCodeSpan(name + writeCall(first.parameters))}`
  return [
    heading,
    writeSignatures(declarations),
    ...(note === '' ? [] : [note]),
    ...docs,
    ...writeMembers(name, members),
  ]
}

function writeSignatures(declarations: readonly Declaration[]): string {
  const text = [...new Set(declarations.map(({ signature }) => clip(signature)))].join('\n')
  const fence = fenceFor(text, 3)
  return `${fence}ts\n${text}\n${fence}`
}

/** Longest doc comment of a member in a list. */
const MAX_LISTED_DOC_CHARS = 400

/** Methods, and members with a longer text, get a heading; the others share a list. */
function writeMembers(name: string, members: readonly Declaration[]): string[] {
  const groups = groupBy(members, (member) => `${member.name} ${member.name === '' ? member.kind : ''}`)
  const listed: string[] = []
  const headed: string[] = []
  for (const group of groups.values()) {
    const [first] = group
    if (first === undefined) continue
    const doc = group.map((one) => writeDoc(one.doc)).find((text) => text !== '') ?? ''
    const inner = group.flatMap((one) => one.members)
    const isShort = doc.length <= MAX_LISTED_DOC_CHARS && !doc.includes('\n\n')
    if (first.kind === 'property' && isShort && inner.length === 0) listed.push(writeItem(first.signature, doc))
    else {
      const owner = first.kind === 'constructor' ? `new ${name}` : first.name === '' ? name : `${name}.${first.name}`
      headed.push(`### ${writeCodeSpan(owner + writeCall(first.parameters))}`, writeSignatures(group), doc)
      headed.push(inner.map((member) => writeItem(member.signature, writeDoc(member.doc))).join('\n'))
    }
  }
  return [listed.join('\n'), ...headed].filter((block) => block !== '')
}

function writeItem(signature: string, doc: string): string {
  return `- ${writeCodeSpan(clip(signature))}${doc === '' ? '' : `: ${doc.replace(/(?<!\s)\s*\n\s*/g, ' ')}`}`
}

/** `(text, options?, ...rest)`; empty for anything that cannot be called. */
function writeCall(parameters: readonly Parameter[] | null): string {
  if (parameters === null) return ''
  const names = parameters
    .filter(({ name }) => name !== 'this')
    .map(({ name, isOptional, isRest }) => {
      return `${isRest ? '...' : ''}${name.startsWith('{') ? 'options' : name}${isOptional ? '?' : ''}`
    })
  return `(${names.join(', ')})`
}

function clip(text: string): string {
  return text.length > MAX_SIGNATURE_CHARS ? `${text.slice(0, MAX_SIGNATURE_CHARS)} …` : text
}
