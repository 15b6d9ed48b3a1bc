import type { Declaration, Parameter } from './declaration.ts'
import { writeDoc } from './doc-comment.ts'
import type { ExportedName, PackageExports, PackageModule } from './package-modules.ts'

/** Longest signature that is written in full. Longer ones are types that no reader reads. */
const MAX_SIGNATURE_CHARS = 1500
/** How deep objects of names within names are written. */
const MAX_DEPTH = 2

/**
 * Writes a page for each module of a package, by the path of its declarations: each name it exports, with its doc comment, signature and
 * members. A name that an earlier module exports too is only listed. A module without names has no page.
 */
export async function writeApiPages(
  title: string,
  modules: readonly PackageModule[],
  exports: PackageExports,
): Promise<ReadonlyMap<string, string>> {
  const pages = new Map<string, string>()
  const written = new Map<Declaration, string>()
  for (const { subpath, path } of modules) {
    const names = await exports.list(path)
    const name = subpath === '.' ? title : title + subpath.slice(1)
    const { blocks, known } = writeNames(names, '', name, written, 0)
    const references = [...known].map(([from, labels]) => `As in \`${from}\`: ${labels.join(', ')}.`)
    if (blocks.length > 0) pages.set(path, `${[`# API of ${name}`, ...references, ...blocks].join('\n\n')}\n`)
  }
  return pages
}

/** Blocks of a page, and the names that other modules describe, by module. */
interface WrittenNames {
  readonly blocks: string[]
  readonly known: Map<string, string[]>
}

/** Writes names. `written` has the module that describes a declaration. */
function writeNames(
  names: ReadonlyMap<string, ExportedName>,
  prefix: string,
  module: string,
  written: Map<Declaration, string>,
  depth: number,
): WrittenNames {
  const result: WrittenNames = { blocks: [], known: new Map() }
  for (const [name, { declarations, inner, external }] of sortNames(names)) {
    const label = name === 'default' && declarations[0] !== undefined ? declarations[0].name : prefix + name
    if (inner !== null) {
      if (depth === MAX_DEPTH) continue
      const { blocks, known } = writeNames(inner, `${prefix}${name}.`, module, written, depth + 1)
      result.blocks.push(...blocks)
      for (const [from, labels] of known) result.known.set(from, [...(result.known.get(from) ?? []), ...labels])
    } else if (external !== null) result.blocks.push(`## \`${label}\`\n\nFrom \`${external}\`.`)
    else {
      const fresh = declarations.filter((one) => !written.has(one))
      const from = fresh.length === 0 && declarations[0] !== undefined ? written.get(declarations[0]) : undefined
      if (from !== undefined && from !== module) {
        result.known.set(from, [...(result.known.get(from) ?? []), `\`${label}\``])
      }
      for (const one of fresh) written.set(one, module)
      result.blocks.push(...writeDeclarations(label, fresh))
    }
  }
  return result
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
