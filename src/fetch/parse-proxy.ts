/** A proxy that opens tunnels. */
export interface HttpProxy {
  readonly host: string
  readonly port: number
  readonly isTls: boolean
  /** Value of Proxy-Authorization; nobody but the proxy gets it. */
  readonly authorization: string | undefined
}

/** Reads `http://user:password@proxy.example:3128`; undefined for what is no address of a proxy. */
export function parseProxy(text: string): HttpProxy | undefined {
  const url = URL.parse(text)
  const isTls = url?.protocol === 'https:'
  if (url === null || (!isTls && url.protocol !== 'http:')) return undefined
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') return undefined
  const user = decode(url.username)
  const password = decode(url.password)
  // The first colon ends the name, RFC 7617 section 2.
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
