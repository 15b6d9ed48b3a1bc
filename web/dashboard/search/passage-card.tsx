import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { countOf } from '../../../src/core/text/count.ts'
import { writeReaderUrl } from '../../../src/core/url/reader-url.ts'
import { writeAgo, writeMoment } from '../../shared/format.ts'
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
        <Moment label="checked" at={passage.checkedAt} />
        <Moment label="changed" at={passage.changedAt} />
        <span>{countOf(tokens, 'token')}</span>
        {kind === 'markdown' ? null : <span>{kind.replace('java_script', 'JavaScript')}</span>}
        {/^https?:/i.test(original) ? <ExternalLink url={original} words="original page" /> : null}
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

/** The text as the server rendered it; a long one is folded. */
function PassageText({ passage: { html, chunk } }: { readonly passage: PassageItem }): JSX.Element {
  const box = useRef<HTMLDivElement>(null)
  const isFolded = useSignal(true)
  const isLong = useSignal(false)
  useLayoutEffect(() => {
    const { current } = box
    isLong.value = current !== null && current.scrollHeight > current.clientHeight + 8
  }, [html])
  return (
    <>
      <div
        ref={box}
        key={chunk}
        class={`rendered passage-text${isFolded.value ? ' folded' : ''}${isLong.value && isFolded.value ? ' long' : ''}`}
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
