import { withAnchor, writeCitationUrl } from '../../core/retrieval/anchored-url.ts'
import { anchorAt } from '../../core/retrieval/page-layout.ts'
import { writePlain } from '../../core/retrieval/plain-text.ts'
import { writeSnippet } from '../../core/search/snippet.ts'
import { textAnalyzer } from '../../core/text/analyzer.ts'
import { CHARS_PER_TOKEN } from '../../core/text/estimate.ts'
import type { PageExcerpt } from '../ports/store.ts'
import type { PageMention, Passage, SimilarPage } from '../search.ts'
import { labelOf, versionFieldsOf } from '../source.ts'
import { writeCitation, writeMention } from './display-text.ts'
import type { Draft } from './draft-answer.ts'
import type { GroupedHit } from './group-hits.ts'
import type { HitSources } from './hit-sources.ts'

/** Parts of an answer. */
export interface AnswerParts {
  readonly passages: readonly Passage[]
  readonly more: readonly PageMention[]
  /** Number of mentions that fit into the token budget; a text answer shows only these. */
  readonly moreShown: number
  readonly tokens: number
}

/** Characters that the mark, the number and the line end of each block add. */
const BLOCK_CHARS = 12

/** Length in characters of the line that shows why a page is mentioned. */
const LINE_CHARS = 120

/** Estimates the tokens of a citation. */
export function citationTokensOf(hit: GroupedHit, excerpt: PageExcerpt, origins: HitSources): number {
  const { chunk, similar } = hit
  const { headingPath, startLine, endLine } = chunk
  const url = withAnchor(hit.url, spanAt(excerpt, hit, startLine)?.anchor ?? null)
  const citation = { ...citationFieldsOf(hit, origins), url, headingPath, startLine, endLine, similar }
  return tokensOf(writeCitation(citation))
}

/** Estimates the tokens of a line with its number and separator. */
export function tokensOf(line: string): number {
  return Math.ceil((line.length + BLOCK_CHARS) / CHARS_PER_TOKEN)
}

/**
 * Lists mentions, best first. Those within the token budget get a line that shows why they match, as far as tokens are left. An answer
 * without passages shows at least one mention.
 */
export function fitMentions(
  hits: readonly GroupedHit[],
  room: number,
  hasNoPassages: boolean,
  origins: HitSources,
): FittedMentions {
  const more = hits.map((hit) => createMention(hit, origins))
  let tokens = 0
  let moreShown = 0
  for (const bare of more) {
    const added = tokensOf(writeMention(bare))
    const isNeeded = hasNoPassages && moreShown === 0
    if (tokens + added > room && !isNeeded) break
    tokens += added
    moreShown++
  }
  for (const [i, bare] of more.slice(0, moreShown).entries()) {
    const hit = hits[i]
    if (hit === undefined || tokens >= room) break
    const page = { ...bare, line: writeLine(hit) }
    const added = tokensOf(writeMention(page)) - tokensOf(writeMention(bare))
    if (tokens + added > room) break
    tokens += added
    more[i] = page
  }
  return { more, moreShown, tokens }
}

/** The pages that are mentioned, and how. */
type FittedMentions = Pick<AnswerParts, 'more' | 'moreShown' | 'tokens'>

export function createPassage({ part, grown, hits }: Draft, origins: HitSources): Passage {
  const sorted = hits.toSorted((a, b) => b.score - a.score)
  const [best] = sorted
  if (best === undefined) throw new TypeError('Expected a passage to have a hit, got none')
  const { chunk, score, explanation } = best
  const { startLine, endLine, text, tokens, isCut, describedSignature } = grown
  const { excerpt } = part
  // A passage that grew upwards begins under another heading than its hit.
  const span = spanAt(excerpt, best, startLine)
  const headingPath = span?.headingPath ?? chunk.headingPath
  return {
    ...citationFieldsOf(best, origins),
    url: writeCitationUrl({
      source: origins.sourceOf(best.sourceId)?.url ?? '',
      url: best.url,
      anchor: span === undefined ? null : anchorAt(span, startLine),
      isVerbatimFile: chunk.kind !== 'markdown',
      startLine,
      endLine,
    }),
    headingPath: describedSignature === null ? headingPath : [...headingPath, describedSignature],
    kind: chunk.kind,
    startLine,
    endLine,
    text,
    tokens,
    isCut,
    chunkIds: sorted.map((hit) => hit.chunk.id),
    score,
    terms: [...new Set(sorted.flatMap(({ terms }) => terms))],
    checkedAt: excerpt.checkedAt,
    changedAt: excerpt.changedAt,
    ...similarOf(best),
    ...(explanation === undefined ? {} : { explain: explanation }),
  }
}

/** Returns the chunk that a passage begins in: that of its hit, or an earlier one. */
function spanAt(
  { spans, first }: PageExcerpt,
  { chunk }: GroupedHit,
  line: number,
): PageExcerpt['spans'][number] | undefined {
  const own = spans[chunk.chunkIndex - first]
  if (own !== undefined && own.startLine <= line) return own
  return spans.findLast(({ startLine }) => startLine <= line)
}

/** Returns the pages that this hit stands for, if any. */
function similarOf({ similar }: GroupedHit): { readonly similar?: readonly SimilarPage[] } {
  return similar.length === 0 ? {} : { similar: [...similar] }
}

/** A mention has no section anchor, because finding it would require reading the page. */
function createMention(hit: GroupedHit, origins: HitSources): PageMention {
  const { url, chunk, score } = hit
  return { ...citationFieldsOf(hit, origins), url, headingPath: chunk.headingPath, line: '', score, ...similarOf(hit) }
}

/** Writes one line of a hit that shows why it matches; headings are left out because they precede it. */
function writeLine({ chunk, terms }: GroupedHit): string {
  const text = chunk.kind === 'markdown' ? writePlain(chunk.content.replace(HEADING_LINES, '')) : chunk.content
  return writeSnippet(text, terms, { ...textAnalyzer, chars: LINE_CHARS })
}

const HEADING_LINES = /^#{1,6} .*$/gm

/** Fields of a citation that passages and mentions share. */
function citationFieldsOf(
  { sourceId, title, url, chunk }: GroupedHit,
  origins: HitSources,
): Pick<Passage, 'sourceId' | 'source' | 'version' | 'packagePage' | 'title' | 'chunk'> {
  const source = origins.sourceOf(sourceId)
  const label = source === undefined ? sourceId : labelOf(source)
  const versionFields = source === undefined ? { version: null } : versionFieldsOf(source, url)
  return { sourceId, source: label, ...versionFields, title, chunk: `${label}/${chunk.id}` }
}
