/** Whether an address is that of a file or folder of this machine. */
export function isFileUrl(url: string): boolean {
  return url.startsWith('file:')
}

/** Whether an address leads to something on this machine: a file or folder, or a repository in one. Only its owner may name these. */
export function isOwnPlace(url: string): boolean {
  return isFileUrl(url) || url.startsWith('git+file:')
}
