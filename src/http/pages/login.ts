import { html } from 'hono/html'
import { renderPage } from './layout.ts'
import type { Html } from './parts.ts'

/** What the form is shown with. */
export interface LoginInput {
  /** Where to go on afterwards: a path of this server. */
  readonly next: string
  /** Whether the token that was given is not the right one. */
  readonly hasFailed: boolean
  /** How long no token is taken, because too many were wrong. @default 0 */
  readonly waitSeconds?: number
}

/**
 * `/login`: asks for the token of this server. It is sent to the address of the page itself, as `token` and `next`: so the part behind
 * the `#`, which no server ever sees, is kept by the browser for the page that comes after.
 */
export function renderLogin({ next, hasFailed, waitSeconds = 0 }: LoginInput): Html {
  const failure =
    waitSeconds > 0
      ? `Too many tokens were wrong: try again in ${waitSeconds} s.`
      : 'That is not the token of this server.'
  return renderPage({
    title: 'Log in',
    body: html`${hasFailed ? html`<div class="panel notice bad" role="alert"><p>${failure}</p></div>` : ''}
<p>This server asks for its token. Whoever started it has it, in the environment or in the file that <code>tokenFile</code> names.</p>
<form class="stack" method="post">
<input type="hidden" name="next" value="${next}">
<label>Token<input type="password" name="token" required autocomplete="current-password" autofocus></label>
<div><button type="submit">Log in</button></div>
</form>`,
  })
}

/** A path of this server, whatever was asked for: nobody is sent elsewhere after logging in. */
export function readNext(text: string | undefined): string {
  return text !== undefined && /^\/(?![/\\])[\x21-\x7e]*$/.test(text) ? text : '/'
}
