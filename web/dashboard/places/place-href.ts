/** The page of a place, which the server writes. */
export function placeHref(id: number): string {
  return `/gazetteer/place/${id}`
}
