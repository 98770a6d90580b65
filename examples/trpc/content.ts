/** Results of the procedures and the plain routes. */
export const greeting = (name: string): { text: string; length: number } => ({
  text: `Hello ${name}`,
  length: name.length,
})

/** About 10 kB of JSON. */
export const article: { title: string; paragraphs: { heading: string; text: string; words: number }[] } = {
  title: 'What a request costs',
  paragraphs: Array.from({ length: 40 }, (_, index) => ({
    heading: `Paragraph ${index + 1}`,
    text: 'Parse the request, find the procedure, check its input, call it, write the answer. '.repeat(2) + index,
    words: 28,
  })),
}
