import { SelectorMap } from '../../html/selector.ts'
import type { Element } from '../../html/tree.ts'
import { apacheManual } from './apache-manual.ts'
import { asciidoctor } from './asciidoctor.ts'
import { discourse } from './discourse.ts'
import { docbook } from './docbook.ts'
import { docusaurus } from './docusaurus.ts'
import { doxygen } from './doxygen.ts'
import type { Generator } from './generator.ts'
import { gitbook } from './gitbook.ts'
import { github } from './github.ts'
import { javadoc } from './javadoc.ts'
import { jsdoc } from './jsdoc.ts'
import { mdbook } from './mdbook.ts'
import { mediawiki } from './mediawiki.ts'
import { mintlify } from './mintlify.ts'
import { mkdocs } from './mkdocs.ts'
import { nextra } from './nextra.ts'
import { pandoc } from './pandoc.ts'
import { rustdoc } from './rustdoc.ts'
import { sphinx } from './sphinx.ts'
import { starlight } from './starlight.ts'
import { texinfo } from './texinfo.ts'
import { typedoc } from './typedoc.ts'
import { vitepress } from './vitepress.ts'
import { wordpress } from './wordpress.ts'
import { yard } from './yard.ts'

/** All known generators. If several could have made a document, the first wins. */
const GENERATORS: readonly Generator[] = [
  mkdocs,
  sphinx,
  docusaurus,
  vitepress,
  starlight,
  rustdoc,
  mdbook,
  javadoc,
  doxygen,
  typedoc,
  jsdoc,
  yard,
  asciidoctor,
  apacheManual,
  docbook,
  texinfo,
  pandoc,
  gitbook,
  nextra,
  mintlify,
  mediawiki,
  discourse,
  wordpress,
  github,
]

/** Number of elements that are checked. The fingerprints are around the content, so a long page need not be searched to its end. */
const MAX_ELEMENTS = 10_000

const BY_FINGERPRINT = new SelectorMap(
  GENERATORS.flatMap((generator, rank) => generator.fingerprints.map((selector) => [selector, rank] as const)),
)

/**
 * Recognizes the program that made a document. Its declared name counts first, then markup that no other program writes. One walk over the
 * tree checks all generators.
 */
export function recognizeGenerator(root: Element): Generator | undefined {
  let declaredRank: number | undefined
  let fingerprintRank: number | undefined
  let count = 0
  for (const element of root.descendants()) {
    if (count++ > MAX_ELEMENTS) break
    // A generator named in the head is final, so the body is not searched.
    if (element.name === 'body' && declaredRank !== undefined) break
    if (element.name === 'meta') declaredRank = minRank(declaredRank, rankOfMeta(element))
    fingerprintRank = minRank(fingerprintRank, BY_FINGERPRINT.match(element))
  }
  return GENERATORS[declaredRank ?? fingerprintRank ?? -1]
}

function rankOfMeta(meta: Element): number | undefined {
  if (meta.attribute('name')?.toLowerCase() !== 'generator') return undefined
  const content = (meta.attribute('content') ?? '').trim().toLowerCase()
  const rank = GENERATORS.findIndex((generator) => generator.meta.some((start) => content.startsWith(start)))
  return rank < 0 ? undefined : rank
}

function minRank(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || (b !== undefined && b < a) ? b : a
}
