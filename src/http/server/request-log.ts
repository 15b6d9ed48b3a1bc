import { redactSecrets, SECRET_FIELD } from '../../core/secrets.ts'
import { hideCredentials } from '../../core/url/credentials.ts'

/** The line of one request: `[req] GET /api/crawls -> 200 1.2ms` */
export function writeRequestLine(request: Request, status: number, ms: number): string {
  return `[req] ${request.method} ${maskAddress(request.url)} -> ${status} ${ms.toFixed(1)}ms`
}

/** The path and query of a URL with secrets masked. */
export function maskAddress(address: string): string {
  if (!URL.canParse(address)) return '?'
  const { pathname, searchParams, search } = new URL(address)
  if (search === '') return redactSecrets(pathname)
  const parts = [...searchParams].map(([name, value]) => {
    const shown = SECRET_FIELD.test(name) ? '***' : value.includes('://') ? hideCredentials(value) : value
    return `${encodeURIComponent(name)}=${shown === '***' ? shown : encodeURIComponent(shown)}`
  })
  return redactSecrets(`${pathname}?${parts.join('&')}`).slice(0, 2000)
}
