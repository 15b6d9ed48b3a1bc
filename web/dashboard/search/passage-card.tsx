import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { countOf } from '../../../src/core/text/count.ts'
import { writeAgo, writeMoment } from '../../shared/format.ts'
import { MarkedText } from '../../shared/marked-text.tsx'
import type { PassageItem } from '../api.ts'
import { now } from '../clock.ts'
import { PageLink } from '../external-link.tsx'
import { ScoreExplanation } from './score-explanation.tsx'
import { SimilarPages } from './similar-pages.tsx'

/** A passage as an agent receives it, with its position, text, age and token count. */
export function PassageCard({ passage }: { readonly passage: PassageItem }): JSX.Element {
  const { title, url, headingPath, source, sourceId, text, terms, tokens, isCut, kind, explain, score } = passage
  const isOpen = useSignal(false)
  return (
    <article class="panel passage">
      <header>
        <h3>
          <PageLink url={passage.packagePage ?? url} source={sourceId} words={title} class="hit" />
        </h3>
        <p class="quiet small cut">{writeDisplayUrl(url)}</p>
        <HeadingPath headings={headingPath} terms={terms} />
      </header>
      <div class={`passage-text kind-${kind}`}>
        <MarkedText text={text} terms={terms} />
        {isCut ? <span class="quiet"> …</span> : null}
      </div>
      <footer class="quiet small">
        <a href={`#/sources/${encodeURIComponent(sourceId)}`}>{source}</a>
        <Moment label="checked" at={passage.checkedAt} />
        <Moment label="changed" at={passage.changedAt} />
        <span>{countOf(tokens, 'token')}</span>
        {kind === 'markdown' ? null : <span>{kind}</span>}
        {explain === undefined ? null : (
          <button
            type="button"
            class="link"
            aria-expanded={isOpen.value}
            onClick={() => {
              isOpen.value = !isOpen.value
            }}
          >
            why it ranked
          </button>
        )}
      </footer>
      <SimilarPages similar={passage.similar} />
      {isOpen.value && explain !== undefined ? <ScoreExplanation explain={explain} score={score} /> : null}
    </article>
  )
}

/** Formats an address for display; a file address becomes a path. */
function writeDisplayUrl(url: string): string {
  try {
    return decodeURI(url).replace(/^file:\/\//, '')
  } catch {
    // The address is not valid percent-encoding.
    return url
  }
}

/** The headings from the page down to the passage. */
function HeadingPath(props: {
  readonly headings: readonly string[]
  readonly terms: readonly string[]
}): JSX.Element | null {
  if (props.headings.length === 0) return null
  return (
    <p class="heading-path quiet small">
      <MarkedText text={props.headings.join(' › ')} terms={props.terms} />
    </p>
  )
}

function Moment({ label, at }: { readonly label: string; readonly at: string }): JSX.Element {
  const moment = Date.parse(at)
  return (
    <span title={writeMoment(moment)}>
      {label} {writeAgo(moment, now.value)}
    </span>
  )
}
