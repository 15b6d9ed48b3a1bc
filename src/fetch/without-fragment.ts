/** An address in its normal form, without its fragment. */
export function withoutFragment(text: string): string {
  const url = new URL(text)
  url.hash = ''
  return url.href
}
