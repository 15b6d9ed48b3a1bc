import { html } from 'hono/html'
import { renderPage } from './layout.ts'
import { type Html, writeText } from './parts.ts'

/** An error, described for the reader of the page. */
export interface PageError {
  readonly title: string
  readonly message: string
  /** The next step for the reader. */
  readonly advice: string
  /** The error code, and the id under which the server log has the details. */
  readonly code?: string
  readonly id?: string
}

/** An error page with the next step, without internals of the server. */
export function renderError({ title, message, advice, code, id }: PageError): Html {
  return renderPage({
    title,
    body: html`<div class="panel notice bad" role="alert"><p>${writeText(message)}</p><p>${writeText(advice)}</p>
${code === undefined ? '' : html`<p class="quiet">Code <code>${code}</code>${id === undefined ? '' : html`, id <code>${id}</code>`}</p>`}</div>
<p><a href="/">Go to the start page</a> · <a href="/queues/ssr">Queues</a> · <a href="/urls">URLs</a></p>`,
  })
}

/** The page for an unknown path. */
export function renderNotFound(path: string): Html {
  return renderError({
    title: 'Not found',
    message: `There is no page at ${path}`,
    advice: 'Check the address, or choose a page from the navigation above.',
  })
}
