/** A proxy that opens tunnels. */
export interface HttpProxy {
  readonly host: string
  readonly port: number
  readonly isTls: boolean
  /** Value of the Proxy-Authorization header, which is sent only to the proxy. */
  readonly authorization: string | undefined
}

/** Parses `http://user:password@proxy.example:3128`; undefined for an invalid proxy URL. */
export function parseProxy(text: string): HttpProxy | undefined {
  const url = URL.parse(text)
  const isTls = url?.protocol === 'https:'
  if (url === null || (!isTls && url.protocol !== 'http:')) return undefined
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') return undefined
  const user = decode(url.username)
  const password = decode(url.password)
  // The first colon ends the user name, RFC 7617 section 2.
  if (user === undefined || password === undefined || user.includes(':')) return undefined
  const hasCredentials = user !== '' || password !== ''
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? (isTls ? 443 : 80) : Number(url.port),
    isTls,
    authorization: hasCredentials ? `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` : undefined,
  }
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
