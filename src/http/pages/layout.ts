import { html, raw } from 'hono/html'
import { writeLabels } from '../../core/address-labels.ts'
import { groupOf, NAVIGATION, type NavigationPage, UNDERSTANDING } from '../../core/navigation.ts'
import { clipShowable, type Html, type Part, writePillClasses, writeTitles } from './parts.ts'

/** The content of a page, without its layout. */
export interface PageInput {
  readonly title: string
  /** The active entry of the navigation; absent for pages outside it. */
  readonly section?: string
  readonly body: Part
  /** Settings for live updates; without them the page is static. */
  readonly live?: LiveInput
}

/** The events that the script subscribes to. */
export interface LiveInput {
  /** Only the events of this job. */
  readonly jobId?: string
  /** Only events whose fields match the filters of the page. */
  readonly match?: Readonly<Record<string, string | undefined>>
  /** The job counter that tells how many new entries there are, for pages to which the script cannot add rows. */
  readonly news?: keyof JobCounts[string]
  /** The counters of jobs at the time of rendering. */
  readonly since?: JobCounts
  /** An address that the script polls every five seconds, instead of listening to events, until the run is over. */
  readonly poll?: string
}

/** Counters of jobs, by job id. */
export type JobCounts = Readonly<Record<string, { readonly visited: number; readonly errors: number }>>

/** A whole page: head, navigation and body. It has no inline script or style, so that the strictest content security policy allows it. */
export function renderPage({ title, section, body, live }: PageInput): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="referrer" content="same-origin">
<title>${clipShowable(title)} · Pharos</title>
<link rel="icon" href="/pages/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/pages/style.css">
<script type="module" src="/pages/live.js"></script>${live?.poll === undefined ? '' : raw('\n<noscript><meta http-equiv="refresh" content="10"></noscript>')}
</head>
<body${live === undefined ? '' : writeLive(live)}>
<a class="skip" href="#main">Skip to the content</a>
${writeBar(section)}
<main id="main" tabindex="-1">
<div class="head"><h1>${clipShowable(title)}</h1>${live === undefined ? '' : raw('<span class="live" role="status" aria-live="polite" data-status></span>')}</div>
${body}
</main>
</body>
</html>`
}

/** The bar at the top, and below it the pages of the current group. The script shows the theme button, which cannot work without it. */
function writeBar(section: string | undefined): Html {
  const current = groupOf(section)
  const groups = NAVIGATION.map((group) => {
    const state = group !== current ? '' : group.pages.length === 0 ? 'page' : 'true'
    // An optional entry is removed again by `completeBar`. The page of the entry itself always has it.
    const isOptional = group.label === UNDERSTANDING && group !== current
    return html`<li${isOptional ? raw(' data-optional') : ''}>${writeLink(group, state)}</li>`
  })
  const pages = (current?.pages ?? []).map(
    (page) => html`<li>${writeLink(page, page.label === section ? 'page' : '')}</li>`,
  )
  return html`<header class="top"><div class="top-row"><a class="brand" href="/#/">Pharos</a><nav aria-label="Main"><ul>${groups}</ul></nav>
<div class="tools">${writeLink({ label: 'API', path: '/docs' }, section === 'API' ? 'page' : '')}<button type="button" class="theme" data-theme hidden></button></div></div></header>
${current === undefined || pages.length === 0 ? '' : html`<nav class="sub" aria-label="${current.label}"><ul>${pages}</ul></nav>`}`
}

function writeLink({ label, path }: NavigationPage, current: string): Html {
  return html`<a href="${path}"${current === '' ? '' : html` aria-current="${current}"`}>${label}</a>`
}

/** What the bar of a rendered page depends on, besides the page. */
export interface BarInput {
  /** Whether an analysis or a plan has found something. */
  readonly hasFindings: boolean
  /** Whether the user logged in, and so can sign out. */
  readonly isSignedIn: boolean
}

/** Completes the bar of a rendered page. */
export function completeBar(page: string, { hasFindings, isSignedIn }: BarInput): string {
  const shown = hasFindings ? page : page.replace(/<li data-optional>.*?<\/li>/s, '')
  const form = '<form method="post" action="/logout"><button type="submit">Sign out</button></form>'
  return isSignedIn ? shown.replace('</div></div></header>', () => `${form}</div></div></header>`) : shown
}

function writeLive({ jobId, match, news, since, poll }: LiveInput): Html {
  if (poll !== undefined)
    return html` data-poll="${poll}" data-pills="${writePillClasses()}" data-labels="${writeLabels()}"`
  const query = jobId === undefined ? 'logs=0' : `logs=0&job=${encodeURIComponent(jobId)}`
  return html` data-events="/events?${query}" data-match="${JSON.stringify(match ?? {})}" data-pills="${writePillClasses()}" data-labels="${writeLabels()}" data-titles="${writeTitles()}"${news === undefined ? '' : html` data-news="${news}" data-since="${JSON.stringify(since ?? {})}"`}`
}

/** The favicon. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#0b5cad" d="M6 3h4l1.5 12h-7z"/><path fill="#e3a53c" d="M5 1h6v3H5z"/></svg>
`
