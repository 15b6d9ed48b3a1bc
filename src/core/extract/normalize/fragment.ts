/** Decodes the part of an address after `#` to the id of its target. */
export function decodeFragment(fragment: string): string {
  try {
    return decodeURIComponent(fragment)
  } catch {
    // A percent sign that encodes nothing is literal.
    return fragment
  }
}
