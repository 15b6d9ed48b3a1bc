import { html } from 'hono/html'
import { renderPage } from './layout.ts'
import { type Html, writeText } from './parts.ts'

/** What went wrong, as far as the reader is concerned. */
export interface PageTrouble {
  readonly title: string
  readonly message: string
  /** What to do next. */
  readonly advice: string
  /** Code of the failure and id under which it stands in the log of the server. */
  readonly code?: string
  readonly id?: string
}

/** A page that says what went wrong and what to do next, and nothing about the inside of the server. */
export function renderTrouble({ title, message, advice, code, id }: PageTrouble): Html {
  return renderPage({
    title,
    body: html`<div class="panel notice bad" role="alert"><p>${writeText(message)}</p><p>${writeText(advice)}</p>
${code === undefined ? '' : html`<p class="quiet">Code <code>${code}</code>${id === undefined ? '' : html`, id <code>${id}</code>`}</p>`}</div>
<p><a href="/">Go to the start page</a> · <a href="/queues/ssr">Queues</a> · <a href="/urls">URLs</a></p>`,
  })
}

/** The page for a path that leads nowhere. */
export function renderNotFound(path: string): Html {
  return renderTrouble({
    title: 'Not found',
    message: `There is no page at ${path}`,
    advice: 'Check the address, or choose a page from the navigation above.',
  })
}
