/** The address of the server-rendered page about a place. */
export function placeHref(id: number): string {
  return `/gazetteer/place/${id}`
}
