/** Whether the percent encoding of a text is valid. */
export function isDecodable(text: string): boolean {
  // Most texts have no percent sign.
  if (!text.includes('%')) return true
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
