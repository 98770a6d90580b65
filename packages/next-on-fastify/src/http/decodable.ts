/** Whether the percent signs of a text stand for characters. */
export function isDecodable(text: string): boolean {
  // Most have none.
  if (!text.includes('%')) return true
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
