import type { JSX } from 'preact'
import { writeNumber } from '../../../src/core/text/count.ts'
import type { PassageExplanation } from '../api.ts'

/** Explains the score of a passage. */
export function ScoreExplanation({
  explain,
  score,
}: {
  readonly explain: PassageExplanation
  readonly score: number
}): JSX.Element {
  const { words, wordScore, linkShare, support, similarity, fusion, reranker } = explain
  const parts = [...(words?.parts ?? [])].sort((a, b) => b.score - a.score)
  const most = Math.max(...parts.map((part) => part.score), words?.pairs ?? 0, 0.001)
  const facts: readonly (readonly [string, string])[] = [
    ['Score', writeScore(score)],
    ['Of its words', writeScore(wordScore)],
    ['Next best hit of the page', support === 0 ? 'adds nothing' : `adds ${writeScore(support)}`],
    ['Text in links', `${Math.round(linkShare * 100)} %`],
    ['Nearness of meaning', similarity === null ? 'took no part' : similarity.toFixed(3)],
    ['Put together', fusion],
    ...(reranker === null ? [] : [['Reranker', writeRankChange(reranker)] as const]),
  ]
  return (
    <div class="why">
      {parts.length === 0 ? null : (
        <table class="why-table">
          <thead>
            <tr>
              <th scope="col">Word</th>
              <th scope="col">Found as</th>
              <th scope="col">In</th>
              <th scope="col" class="number">
                Times
              </th>
              <th scope="col" class="number">
                Chunks with it
              </th>
              <th scope="col">Adds</th>
            </tr>
          </thead>
          <tbody>
            {parts.map(({ word, fields, terms, documents, score: added }) => (
              <tr key={word}>
                <td>{word}</td>
                <td data-label="Found as">{terms.join(', ')}</td>
                <td data-label="In">{Object.keys(fields).join(', ')}</td>
                <td class="number" data-label="Times">
                  {writeNumber(Object.values(fields).reduce((sum, count) => sum + count, 0))}
                </td>
                <td class="number" data-label="Chunks with it">
                  {writeNumber(documents)}
                </td>
                <td>
                  <Share value={added} most={most} />
                </td>
              </tr>
            ))}
            {words === null || words.pairs === 0 ? null : (
              <tr>
                <td colSpan={5}>Words that stand together</td>
                <td>
                  <Share value={words.pairs} most={most} />
                </td>
              </tr>
            )}
          </tbody>
        </table>
      )}
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  )
}

function Share({ value, most }: { readonly value: number; readonly most: number }): JSX.Element {
  return (
    <span class="share">
      <span class="number">{writeScore(value)}</span>
      <span class="share-track">
        <span class="share-bar" style={{ width: `${(value * 100) / most}%` }} />
      </span>
    </span>
  )
}

/** How the reranker moved a hit. Scores stay with the ranks, so a moved hit has the score of the hit that had its new rank before. */
function writeRankChange({ score, place, placeBefore }: NonNullable<PassageExplanation['reranker']>): string {
  const move = place === placeBefore ? `place ${place}, as before` : `place ${place} instead of ${placeBefore}`
  return `${move}, by ${writeScore(score)}`
}

/** Scores can be very small, so they are rounded to significant digits. */
function writeScore(score: number): string {
  return score === 0 ? '0' : String(Number(score.toPrecision(3)))
}
