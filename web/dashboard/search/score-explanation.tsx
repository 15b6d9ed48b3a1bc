import type { JSX } from 'preact'
import { writeNumber } from '../../../src/core/text/count.ts'
import type { PassageExplanation } from '../api.ts'
import { TableHead } from '../table-head.tsx'

/** The columns of the table. */
const COLUMNS = [
  ['Word'],
  ['Found as'],
  ['In'],
  ['Times', 'number'],
  ['Chunks with the word', 'number'],
  ['Adds'],
] as const

/** Explains the score of a passage. */
export function ScoreExplanation({
  explain,
  score,
}: {
  readonly explain: PassageExplanation
  readonly score: number
}): JSX.Element {
  const { words, wordScore, linkShare, pageBonus, similarity, fusion, reranker } = explain
  const parts = [...(words?.parts ?? [])].sort((a, b) => b.score - a.score)
  const maxScore = Math.max(...parts.map((part) => part.score), words?.pairs ?? 0, 0.001)
  const facts: readonly (readonly [string, string])[] = [
    ['Score', writeScore(score)],
    ['Word score', writeScore(wordScore)],
    ['Whole page and its other hits', pageBonus === 0 ? 'adds nothing' : `adds ${writeScore(pageBonus)}`],
    ['Text in links', `${Math.round(linkShare * 100)} %`],
    ['Semantic similarity', similarity === null ? 'not used' : similarity.toFixed(3)],
    ['Fusion', fusion],
    ...(reranker === null ? [] : [['Reranker', writeRankChange(reranker)] as const]),
  ]
  return (
    <div class="why">
      {parts.length === 0 ? null : (
        <table class="why-table">
          <TableHead columns={COLUMNS} />
          <tbody>
            {parts.map(({ word, fields, terms, documents, score: added }) => (
              <tr key={word}>
                <td>{word}</td>
                <td data-label="Found as">{terms.join(', ')}</td>
                <td data-label="In">{Object.keys(fields).join(', ')}</td>
                <td class="number" data-label="Times">
                  {writeNumber(Object.values(fields).reduce((sum, count) => sum + count, 0))}
                </td>
                <td class="number" data-label="Chunks with the word">
                  {writeNumber(documents)}
                </td>
                <td>
                  <Share value={added} maxScore={maxScore} />
                </td>
              </tr>
            ))}
            {words === null || words.pairs === 0 ? null : (
              <tr>
                <td colSpan={5}>Adjacent words</td>
                <td>
                  <Share value={words.pairs} maxScore={maxScore} />
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

function Share({ value, maxScore }: { readonly value: number; readonly maxScore: number }): JSX.Element {
  return (
    <span class="share">
      <span class="number">{writeScore(value)}</span>
      <span class="share-track">
        <span class="share-bar" style={{ width: `${(value * 100) / maxScore}%` }} />
      </span>
    </span>
  )
}

/** How the reranker moved a hit. Scores stay with the ranks, so a moved hit has the score of the hit that had its new rank before. */
function writeRankChange({ score, place, placeBefore }: NonNullable<PassageExplanation['reranker']>): string {
  const move = place === placeBefore ? `rank ${place}, as before` : `rank ${place} instead of ${placeBefore}`
  return `${move}, score ${writeScore(score)}`
}

/** Scores can be very small, so they are rounded to significant digits. */
function writeScore(score: number): string {
  return score === 0 ? '0' : String(Number(score.toPrecision(3)))
}
