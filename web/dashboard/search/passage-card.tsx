import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { countOf } from '../../../src/core/text/count.ts'
import { writeReaderUrl } from '../../../src/core/url/reader-url.ts'
import { isWebPageUrl } from '../../../src/core/url/tree-url.ts'
import { writeAgo, writeMoment } from '../../shared/format.ts'
import { nameOfKind } from '../../shared/kind-name.ts'
import { MarkedText } from '../../shared/marked-text.tsx'
import type { PassageItem } from '../api.ts'
import { now } from '../clock.ts'
import { ExternalLink } from '../external-link.tsx'
import { CopyButtons } from './copy-buttons.tsx'
import { ScoreExplanation } from './score-explanation.tsx'
import { SimilarPages } from './similar-pages.tsx'

/** A passage as an agent receives it, rendered: its section path, text, age and token count. */
export function PassageCard({ passage }: { readonly passage: PassageItem }): JSX.Element {
  const { title, url, headingPath, source, sourceId, terms, tokens, isCut, kind, explain, score } = passage
  const isExplained = useSignal(false)
  const path = headingPath[0] === title ? headingPath.slice(1) : headingPath
  const original = passage.packagePage ?? url
  const lines = { start: passage.startLine, end: passage.endLine }
  return (
    <article class="panel passage" aria-label={title}>
      <header>
        <p class="heading-path small">
          <a href={`#/sources/${encodeURIComponent(sourceId)}`}>{source}</a>
          {path.map((heading, i) => (
            <span key={i}>
              <span aria-hidden="true"> › </span>
              <MarkedText text={heading} terms={terms} />
            </span>
          ))}
        </p>
        <h2>
          <a class="hit" href={writeReaderUrl({ sourceId, url, lines })} title={url}>
            {title === '' ? url : title}
          </a>
        </h2>
      </header>
      <PassageText passage={passage} />
      {isCut ? <p class="quiet small">The passage is longer; the reader shows all of it.</p> : null}
      <footer class="quiet small">
        {passage.checkedAt === passage.changedAt ? null : <Moment label="checked" at={passage.checkedAt} />}
        <Moment label="changed" at={passage.changedAt} />
        <span>{countOf(tokens, 'token')}</span>
        {terms.length === 0 ? <span>by meaning alone</span> : null}
        {kind === 'markdown' ? null : <span>{nameOfKind(kind)}</span>}
        {isWebPageUrl(original) ? <ExternalLink url={original} words="original page" /> : null}
        <CopyButtons forms={writeForms(passage)} />
        {explain === undefined ? null : (
          <button
            type="button"
            class="link"
            aria-expanded={isExplained.value}
            onClick={() => {
              isExplained.value = !isExplained.value
            }}
          >
            why it ranked
          </button>
        )}
      </footer>
      <SimilarPages similar={passage.similar} />
      {isExplained.value && explain !== undefined ? <ScoreExplanation explain={explain} score={score} /> : null}
    </article>
  )
}

/** The text as the server rendered it; a long one is folded, and begins where most of the matching words are. */
function PassageText({ passage: { html, chunk } }: { readonly passage: PassageItem }): JSX.Element {
  const box = useRef<HTMLDivElement>(null)
  const isFolded = useSignal(true)
  const isLong = useSignal(false)
  const isBegun = useSignal(false)
  useLayoutEffect(() => {
    const { current } = box
    if (current === null) return
    isLong.value = current.scrollHeight > current.clientHeight + 8
    current.scrollTop = isLong.value && isFolded.value ? findBestTop(current) : 0
    isBegun.value = current.scrollTop > 0
  }, [html])
  return (
    <>
      <div
        ref={box}
        key={chunk}
        class={`rendered passage-text${isFolded.value ? ' folded' : ''}${isLong.value && isFolded.value ? (isBegun.value ? ' long begun' : ' long') : ''}`}
        // The server rendered the text and escaped everything that comes from a page: see `renderMarkdown`.
        dangerouslySetInnerHTML={{ __html: html }}
      />
      {isLong.value && isFolded.value ? (
        <button
          type="button"
          class="unfold link small"
          onClick={() => {
            isFolded.value = false
          }}
        >
          Show all of it
        </button>
      ) : null}
    </>
  )
}

/** How much of a folded text fades out, in pixels. */
const FADE = 48
/** Matching words that are considered. */
const MAX_MARKS = 200

/** The place in a folded text from which most different matching words are visible; 0 if that is its beginning. */
function findBestTop(box: HTMLElement): number {
  const { top } = box.getBoundingClientRect()
  const topOf = (element: Element) => element.getBoundingClientRect().top - top + box.scrollTop
  const marks = [...box.querySelectorAll('mark')].slice(0, MAX_MARKS).map((mark) => {
    const around = mark.closest('p, li, tr, h3, h4, h5, h6, pre') ?? mark
    // The box of a word is lower than its line, whose top would be cut otherwise.
    const halfLeading = (parseFloat(getComputedStyle(around).lineHeight) - mark.getBoundingClientRect().height) / 2
    const [line, block] = [Math.floor(topOf(mark) - Math.max(0, halfLeading || 0)), Math.floor(topOf(around))]
    // A block that begins far above, such as code, would hide its match again.
    return { word: (mark.textContent ?? '').toLowerCase(), line, start: line - block > FADE ? line : block }
  })
  const countFrom = (start: number) => {
    const end = start + box.clientHeight - FADE
    return new Set(marks.filter(({ line }) => line >= start && line < end).map(({ word }) => word)).size
  }
  let best = { start: 0, count: countFrom(0) }
  for (const { start } of marks) {
    const count = countFrom(start)
    if (count > best.count) best = { start, count }
  }
  return best.start
}

/** The passage as a citation, as Markdown, and as the call with which an agent gets it. */
function writeForms({ citation, text, title, headingPath, url, chunk }: PassageItem): Readonly<Record<string, string>> {
  const name = [title, ...headingPath.filter((heading) => heading !== title)].join(' › ').replace(/[[\]\\]/g, '\\$&')
  const call = { method: 'tools/call', params: { name: 'get_chunk', arguments: { chunk } } }
  return { citation, Markdown: `${text.trim()}\n\n— [${name}](${url})\n`, 'MCP call': JSON.stringify(call) }
}

function Moment({ label, at }: { readonly label: string; readonly at: string }): JSX.Element {
  const moment = Date.parse(at)
  return (
    <span title={writeMoment(moment)}>
      {label} {writeAgo(moment, now.value)}
    </span>
  )
}
