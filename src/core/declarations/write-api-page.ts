import type { Declaration, Parameter } from './declaration.ts'
import { writeDoc } from './doc-comment.ts'
import type { ExportedName, PackageExports, PackageModule } from './package-modules.ts'

/** Longest signature that is written in full. Longer ones are types that no reader reads. */
const MAX_SIGNATURE_CHARS = 1500
/** How deep objects of names within names are written. */
const MAX_DEPTH = 2

/**
 * Writes a page for each module of a package, by the path of its declarations: each name it exports, with its doc comment, signature and
 * members. A name that is described elsewhere is only listed. A module without names has no page.
 */
export async function writeApiPages(
  title: string,
  modules: readonly PackageModule[],
  exports: PackageExports,
): Promise<ReadonlyMap<string, string>> {
  const pages = new Map<string, string>()
  const written = new Map<Declaration, string>()
  for (const { subpath, path } of modules) {
    const module = subpath === '.' ? title : title + subpath.slice(1)
    const page = new ApiPage(module, written)
    page.add(await exports.list(path))
    if (page.hasNames) pages.set(path, page.write())
  }
  return pages
}

/** The page of a module. */
class ApiPage {
  readonly #module: string
  /** The module that describes a declaration. */
  readonly #written: Map<Declaration, string>
  readonly #blocks: string[] = []
  /** Names that are described elsewhere, by module; those of this module have another name here. */
  readonly #known = new Map<string, string[]>()
  #default = ''

  constructor(module: string, written: Map<Declaration, string>) {
    this.#module = module
    this.#written = written
  }

  get hasNames(): boolean {
    return this.#blocks.length + this.#known.size > 0
  }

  write(): string {
    const references = [...this.#known].map(([from, labels]) => {
      return `${from === this.#module ? ALSO_EXPORTED : `As in \`${from}\`:`} ${labels.join(', ')}.`
    })
    const first = this.#default === '' ? [] : [`Default export: \`${this.#default}\`.`]
    return `${[`# API of ${this.#module}`, ...first, ...references, ...this.#blocks].join('\n\n')}\n`
  }

  add(names: ReadonlyMap<string, ExportedName>, prefix = '', depth = 0): void {
    for (const [name, found] of sortNames(names)) {
      const { declarations, inner, external } = found
      if (name === 'default' && depth === 0) {
        const other = [...names].find(([label, one]) => label !== 'default' && isSame(one, found))?.[0]
        this.#default = other ?? declarations[0]?.name ?? 'default'
        if (other !== undefined) continue
      }
      const label = prefix + (name === 'default' ? this.#default : name)
      if (inner !== null && depth < MAX_DEPTH) this.add(inner, `${label}.`, depth + 1)
      else if (external !== null) this.#blocks.push(`## \`${label}\`\n\nFrom \`${external}\`.`)
      else if (inner === null) this.#describe(label, declarations)
    }
  }

  #describe(label: string, declarations: readonly Declaration[]): void {
    const fresh = declarations.filter((one) => !this.#written.has(one))
    const [first] = declarations
    const from = fresh.length > 0 || first === undefined ? undefined : this.#written.get(first)
    // A name within a name that this page describes already says nothing new.
    const isNew = from !== undefined && (from !== this.#module || !label.includes('.'))
    if (isNew) this.#known.set(from, [...(this.#known.get(from) ?? []), `\`${label}\``])
    for (const one of fresh) this.#written.set(one, this.#module)
    this.#blocks.push(...writeDeclarations(label, fresh))
  }
}

const ALSO_EXPORTED = 'Also exported:'

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
function writeDeclarations(name: string, declarations: readonly Declaration[]): string[] {
  const [first] = declarations
  if (first === undefined) return []
  const docs = new Set(declarations.map(({ doc }) => writeDoc(doc)).filter((doc) => doc !== ''))
  const members = declarations.flatMap((one) => one.members)
  const heading = `## \`${name}${writeCall(first.parameters)}\``
  return [heading, writeSignatures(declarations), ...docs, ...writeMembers(name, members)]
}

function writeSignatures(declarations: readonly Declaration[]): string {
  const signatures = new Set(declarations.map(({ signature }) => clip(signature)))
  return `\`\`\`ts\n${[...signatures].join('\n')}\n\`\`\``
}

/** Methods with a text of their own get a heading; the other members share a list. */
function writeMembers(name: string, members: readonly Declaration[]): string[] {
  const byName = new Map<string, Declaration[]>()
  for (const member of members) byName.set(member.name, [...(byName.get(member.name) ?? []), member])
  const listed: string[] = []
  const headed: string[] = []
  for (const [label, group] of byName) {
    const [first] = group
    if (first === undefined) continue
    const doc = group.map((one) => writeDoc(one.doc)).find((text) => text !== '') ?? ''
    const isShort = doc.length <= MAX_LISTED_DOC_CHARS && !doc.includes('\n\n')
    if (first.kind === 'property' && isShort && first.members.length === 0) {
      listed.push(`- \`${clip(first.signature)}\`${doc === '' ? '' : `: ${doc.replace(/\s*\n\s*/g, ' ')}`}`)
      continue
    }
    const owner = first.kind === 'constructor' ? `new ${name}` : label === '' ? name : `${name}.${label}`
    headed.push(`### \`${owner}${writeCall(first.parameters)}\``, writeSignatures(group), doc)
    headed.push(...first.members.map((inner) => `- \`${clip(inner.signature)}\`${writeInline(inner.doc)}`))
  }
  return [listed.join('\n'), ...headed].filter((block) => block !== '')
}

const MAX_LISTED_DOC_CHARS = 400

function writeInline(doc: string): string {
  const text = writeDoc(doc).replace(/\s*\n\s*/g, ' ')
  return text === '' ? '' : `: ${text}`
}

/** `(text, options?, ...rest)`; empty for anything that cannot be called. */
function writeCall(parameters: readonly Parameter[] | null): string {
  if (parameters === null) return ''
  const names = parameters
    .filter(({ name }) => name !== 'this')
    .map(
      ({ name, isOptional, isRest }) =>
        `${isRest ? '...' : ''}${name.startsWith('{') ? 'options' : name}${isOptional ? '?' : ''}`,
    )
  return `(${names.join(', ')})`
}

function clip(text: string): string {
  const plain = text.replaceAll('`', "'")
  return plain.length > MAX_SIGNATURE_CHARS ? `${plain.slice(0, MAX_SIGNATURE_CHARS)} …` : plain
}
