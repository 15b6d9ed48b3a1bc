import { html } from 'hono/html'
import { writeSentence } from '../../core/text/capitalize.ts'
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
    body: html`<div class="panel notice bad" role="alert"><p>${writeText(writeMessage(message))}</p><p>${writeText(writeSentence(advice))}</p>
${code === undefined ? '' : html`<p class="quiet small">Code <code>${code}</code>${id === undefined ? '' : html`, id <code>${id}</code>`}</p>`}</div>
<p><a href="/">Back to the home page</a></p>`,
  })
}

/** A message as a sentence. The name of a parameter at its beginning stays as it is. */
function writeMessage(message: string): string {
  return /^\w+: /.test(message) ? message : writeSentence(message)
}

/** The page for an unknown path. */
export function renderNotFound(path: string): Html {
  return renderError({
    title: 'Not found',
    message: `There is no page at ${path}`,
    advice: 'Check the address, or choose a page from the navigation above.',
  })
}
