/** Whether an address is that of a local file or folder. */
export function isFileUrl(url: string): boolean {
  return url.startsWith('file:')
}

/** Whether an address leads to this machine: a file or folder, or a repository in one. Only the machine's owner may use such an address. */
export function isLocalUrl(url: string): boolean {
  return isFileUrl(url) || url.startsWith('git+file:')
}
