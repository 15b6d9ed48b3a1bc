/** Decodes a part of an address. A percent sign that encodes nothing is literal, and text that is not UTF-8 stays as written. */
export function decodePart(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
