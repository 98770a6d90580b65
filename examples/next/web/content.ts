/** Some prose, always the same, of about so many paragraphs of 200 bytes each. */
export function prose(paragraphs: number): string[] {
  return Array.from(
    { length: paragraphs },
    (_, index) =>
      `Paragraph ${index + 1}. A page has text, and text repeats itself less than a benchmark does: ` +
      `${(index + 1) * 7919} and ${(index + 1) * 104729} are numbers that stand only here.`,
  )
}
