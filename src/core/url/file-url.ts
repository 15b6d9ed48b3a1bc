/** Whether an address is that of a file or folder of this machine. */
export function isFileUrl(url: string): boolean {
  return url.startsWith('file:')
}
