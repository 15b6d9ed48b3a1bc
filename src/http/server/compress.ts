/** Smaller responses are not compressed. */
const MIN_BYTES = 1024

/** Content types worth compressing; the WebAssembly grammars shrink to a ninth of their size. */
const COMPRESSIBLE = /^(?:text\/(?!event-stream)|application\/(?:json|javascript|manifest\+json|wasm)|image\/svg)/

/** Compresses the response to a GET when the client accepts gzip. Event streams and responses to POST stay as they are. */
export function compress(response: Response, request: Request): Response {
  const { headers, status, body } = response
  if (request.method !== 'GET' || body === null || status !== 200 || headers.has('content-encoding')) return response
  if (!COMPRESSIBLE.test(headers.get('content-type') ?? '')) return response
  headers.append('vary', 'accept-encoding')
  const length = Number(headers.get('content-length') ?? MIN_BYTES)
  if (length < MIN_BYTES || !acceptsGzip(request)) return response
  const compressed = new Headers(headers)
  compressed.delete('content-length')
  compressed.set('content-encoding', 'gzip')
  const etag = compressed.get('etag')
  // Compression changes the bytes but not the meaning, so the ETag becomes weak.
  if (etag !== null && !etag.startsWith('W/')) compressed.set('etag', `W/${etag}`)
  return new Response(body.pipeThrough(new CompressionStream('gzip')), { status, headers: compressed })
}

/** Whether the client accepts gzip. */
export function acceptsGzip({ headers }: Request): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(headers.get('accept-encoding') ?? '')
}
