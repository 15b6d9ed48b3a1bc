import { parseHtmlTree } from '../html/parse-html.ts'
import type { Element } from '../html/tree.ts'
import type { Extraction, Sha256, Snapshot } from '../model.ts'
import { placeStreamedParts } from './content/streamed-parts.ts'
import { decodeHtml } from './decode-html.ts'
import { listRemovals } from './drop.ts'
import { indexElements } from './element-index.ts'
import { type FoundContent, findContent } from './find-content.ts'
import { takeGeneratorContent } from './generator-content.ts'
import type { Generator } from './generators/generator.ts'
import { recognizeGenerator } from './generators/recognize-generator.ts'
import { baseOf, linkBaseOf, readLinks } from './links.ts'
import { measureMarkdown } from './measure.ts'
import { detectBodyKind } from './media-type.ts'
import { type Metadata, readMetadata } from './metadata.ts'
import { normalizeContent } from './normalize/content.ts'
import { hasTexTypesetter, markTex } from './normalize/tex.ts'
import { findRefusal } from './refuse.ts'
import { removeChrome } from './remove/chrome.ts'
import { removeHidden } from './remove/hidden.ts'
import { removeNonText } from './remove/non-text.ts'
import { extractText } from './text-page.ts'
import { writeMarkdown } from './write/markdown.ts'

/** Options of {@link extractPage}. */
export interface ExtractOptions {
  /** Report the removed parts and the reasons. @default false */
  readonly debug?: boolean
  /** @default a portable implementation */
  readonly sha256?: Sha256
  /** The generator of HTML that was converted from a document instead of fetched. @default detected from the page */
  readonly generator?: Generator
}

/** Turns a response into a page of clean Markdown, or returns the reason why there is none. The same bytes give the same page anywhere. */
export function extractPage(snapshot: Snapshot, options: ExtractOptions = {}): Extraction {
  const bodyKind = detectBodyKind(snapshot)
  switch (bodyKind.type) {
    case 'html':
      return extractHtml(snapshot, options)
    case 'text':
      return extractText(snapshot, {
        isMarkdown: bodyKind.isMarkdown,
        isMdx: bodyKind.isMdx,
        isHandWritten: options.generator === undefined,
        sha256: options.sha256,
      })
    case 'other':
      return { type: 'no-page', reason: 'not_text', detail: bodyKind.name, target: null, links: [], removals: [] }
  }
}

function extractHtml(snapshot: Snapshot, options: ExtractOptions): Extraction {
  const source = decodeHtml(snapshot.body, snapshot.headers?.['content-type'] ?? '')
  const { root, commentChars } = parseHtmlTree(source)
  // Every placeholder id contains `B:`. The search in the source avoids a walk over all elements.
  if (source.includes('B:')) placeStreamedParts(root)
  let index = indexElements(root)
  const base = baseOf(index, snapshot.url)
  const generator = options.generator ?? recognizeGenerator(root)
  const hasTex = index.scripts.some(hasTexTypesetter)
  if (removeNonText(index)) index = indexElements(root)
  const hiddenChars = removeHidden(index, generator)
  // Hidden elements are removed before metadata is read, so that hidden text never becomes the title.
  const metadata = readMetadata(index, base, snapshot.headers)
  const generatorContent = takeGeneratorContent(root, generator)
  const { elements: content, forum } =
    generatorContent === undefined
      ? searchContent(root, generator, metadata)
      : { elements: generatorContent, forum: null }
  const links = readLinks(index, base, content)
  const refusal = findRefusal(snapshot, root, content, metadata, base, options.generator !== undefined)
  const removals = options.debug === true ? listRemovals(root) : []
  if (refusal !== undefined) return { type: 'no-page', ...refusal, links, removals }
  for (const element of content) {
    generator?.normalize?.(element)
    if (hasTex) markTex(element)
    normalizeContent(element)
  }
  const { markdown, sections, invisibleChars } = writeMarkdown(content, linkBaseOf(snapshot, base))
  if (markdown === '') {
    return { type: 'no-page', reason: 'empty', detail: 'no text', target: null, links, removals }
  }
  const { types, section, ...otherMetadata } = metadata
  return {
    type: 'page',
    page: {
      url: snapshot.url,
      ...otherMetadata,
      generator: forum ?? generator?.name ?? null,
      ...(types.length === 0 ? {} : { types }),
      ...(section === null ? {} : { section }),
      markdown,
      sections,
      links,
      ...measureMarkdown(markdown, options.sha256),
      hiddenChars: hiddenChars + commentChars + invisibleChars,
    },
    removals,
  }
}

/** Finds the content of a page by general rules, if the rules of its generator do not find it. */
function searchContent(root: Element, generator: Generator | undefined, metadata: Metadata): FoundContent {
  removeChrome(root, generator)
  return findContent(root, generator, metadata)
}
