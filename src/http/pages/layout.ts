import { html, raw } from 'hono/html'
import { clipShowable, type Html, type Part, writePillClasses } from './parts.ts'

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

/** Entries of the navigation. The dashboard routes its own pages behind the `#`. */
const NAVIGATION = [
  ['Crawler', '/'],
  ['Sources', '/#/sources'],
  ['Search', '/#/search'],
  ['Folder', '/local/'],
  ['Queues', '/queues/ssr'],
  ['Problems', '/problems/ssr'],
  ['Milestones', '/milestones/ssr'],
  ['Errors', '/errors'],
  ['Domains', '/domains'],
  ['URLs', '/urls'],
  ['Analysis', '/analysis/ssr'],
  ['Gazetteer', '/gazetteer'],
  ['API', '/docs'],
] as const

/** A whole page: head, navigation and body. It has no inline script or style, so that the strictest content security policy allows it. */
export function renderPage({ title, section, body, live }: PageInput): Html {
  const links = NAVIGATION.map(
    ([label, path]) =>
      html`<li><a href="${path}"${label === section ? raw(' aria-current="page"') : ''}>${label}</a></li>`,
  )
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
<header class="top"><div class="top-row"><a class="brand" href="/">Pharos</a><nav aria-label="Main"><ul>${links}</ul></nav></div></header>
<main id="main" tabindex="-1">
<div class="head"><h1>${clipShowable(title)}</h1>${live === undefined ? '' : raw('<span class="live" role="status" aria-live="polite" data-status></span>')}</div>
${body}
</main>
</body>
</html>`
}

/** Adds a sign-out button, for users who logged in. */
export function addSignOut(page: string): string {
  const form = '<form method="post" action="/logout"><button type="submit">Sign out</button></form>'
  return page.replace('</nav></div></header>', () => `</nav>${form}</div></header>`)
}

function writeLive({ jobId, match, news, since, poll }: LiveInput): Html {
  if (poll !== undefined) return html` data-poll="${poll}" data-pills="${writePillClasses()}"`
  const query = jobId === undefined ? 'logs=0' : `logs=0&job=${encodeURIComponent(jobId)}`
  return html` data-events="/events?${query}" data-match="${JSON.stringify(match ?? {})}" data-pills="${writePillClasses()}"${news === undefined ? '' : html` data-news="${news}" data-since="${JSON.stringify(since ?? {})}"`}`
}

/** The favicon. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#0b5cad" d="M6 3h4l1.5 12h-7z"/><path fill="#e3a53c" d="M5 1h6v3H5z"/></svg>
`
