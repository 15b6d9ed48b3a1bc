import { html } from 'hono/html'
import { renderPage } from './layout.ts'
import type { Html } from './parts.ts'

/** The state of the login form. */
export interface LoginInput {
  /** The path on this server to open after login. */
  readonly next: string
  /** Whether the submitted token was wrong. */
  readonly hasFailed: boolean
  /** How long logins are blocked after too many wrong tokens. @default 0 */
  readonly waitSeconds?: number
}

/**
 * `/login`: the login form. It posts `token` and `next` to its own address, so that the browser keeps the fragment (`#…`), which servers
 * never see, for the page after login.
 */
export function renderLogin({ next, hasFailed, waitSeconds = 0 }: LoginInput): Html {
  const failure =
    waitSeconds > 0 ? `Too many wrong tokens: try again in ${waitSeconds} s.` : 'That is not the token of this server.'
  return renderPage({
    title: 'Log in',
    body: html`${hasFailed ? html`<div class="panel notice bad" role="alert"><p>${failure}</p></div>` : ''}
<p>This server requires a token. Its operator finds the token in <code>PHAROS_TOKEN</code> or in the file that <code>tokenFile</code> names.</p>
<form class="stack" method="post">
<input type="hidden" name="next" value="${next}">
<label>Token<input type="password" name="token" required autocomplete="current-password" autofocus></label>
<div><button type="submit">Log in</button></div>
</form>`,
  })
}

/** Accepts only paths of this server, which prevents open redirects after login. */
export function readNext(text: string | undefined): string {
  return text !== undefined && /^\/(?![/\\])[\x21-\x7e]*$/.test(text) ? text : '/'
}
