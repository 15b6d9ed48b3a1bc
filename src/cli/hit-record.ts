import type { HitExplanation, PageMention, Passage, SearchAnswer } from '../library/search.ts'
import { timeRecord } from './library.ts'

/** An answer as JSON. */
export function answerRecord(answer: SearchAnswer): Record<string, unknown> {
  const { query, engines, notices, searched, searchedCount, passages, more, tokens, cursor, widen } = answer
  return {
    query,
    engines,
    notices,
    searched,
    searched_count: searchedCount,
    passages: passages.map(passageRecord),
    more: more.map(({ line, ...page }) => ({ ...mentionRecord(page), line })),
    tokens,
    cursor,
    // The names of filters are those of the other fields.
    widen: widen.map((one) => ({
      ...one,
      filter: one.filter.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    })),
  }
}

function passageRecord(passage: Passage): Record<string, unknown> {
  const { explain } = passage
  return {
    ...mentionRecord(passage),
    kind: passage.kind,
    start_line: passage.startLine,
    end_line: passage.endLine,
    text: passage.text,
    tokens: passage.tokens,
    is_cut: passage.isCut,
    chunk_ids: passage.chunkIds,
    terms: passage.terms,
    checked_at: timeRecord(passage.checkedAt),
    changed_at: timeRecord(passage.changedAt),
    ...(explain === undefined
      ? {}
      : {
          explain: {
            words: explain.words,
            word_score: explain.wordScore,
            link_share: explain.linkShare,
            support: explain.support,
            similarity: explain.similarity,
            fusion: explain.fusion,
            reranker: rerankerRecord(explain),
          },
        }),
  }
}

function rerankerRecord({ reranker }: HitExplanation): Record<string, unknown> | null {
  return reranker && { score: reranker.score, place: reranker.place, place_before: reranker.placeBefore }
}

/** What passages and pages that are only mentioned have in common. */
function mentionRecord(hit: Passage | Omit<PageMention, 'line'>): Record<string, unknown> {
  return {
    source: hit.source,
    source_id: hit.sourceId,
    version: hit.version,
    title: hit.title,
    url: hit.url,
    heading_path: hit.headingPath,
    chunk: hit.chunk,
    score: hit.score,
    ...(hit.similar === undefined ? {} : { similar: hit.similar }),
  }
}
