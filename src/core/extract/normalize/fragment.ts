/** The part of an address after `#` as the id it leads to. */
export function decodeFragment(fragment: string): string {
  try {
    return decodeURIComponent(fragment)
  } catch {
    // A percent sign that encodes nothing stands for itself.
    return fragment
  }
}
