/** An ETag from a short checksum of the body and its length. */
export function writeEtag(body: string | Uint8Array): string {
  let sum = 5381
  for (let i = 0; i < body.length; i++) {
    const unit = typeof body === 'string' ? body.charCodeAt(i) : (body[i] ?? 0)
    sum = (Math.imul(sum, 33) ^ unit) >>> 0
  }
  return `"${sum.toString(36)}-${body.length.toString(36)}"`
}
