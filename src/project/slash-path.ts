/** Absolute paths begin with a slash here, also those with a drive. */
export function nativePath(path: string): string {
  return path.replace(/^\/(?=[A-Za-z]:\/)/, '')
}

/** An absolute path of this system with slashes. */
export function slashPath(path: string): string {
  const slashed = path.replaceAll('\\', '/')
  return slashed.startsWith('/') ? slashed : `/${slashed}`
}
