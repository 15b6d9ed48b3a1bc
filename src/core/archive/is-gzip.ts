/** Whether bytes are compressed with gzip, by their first two (RFC 1952). Servers send gzip files as they are or with a Content-Encoding. */
export function isGzip([first, second]: Uint8Array): boolean {
  return first === 0x1f && second === 0x8b
}
