/** Is loaded for ever. */
export default function neverReady(): Promise<never> {
  return new Promise(() => {
    setInterval(() => {}, 1000)
  })
}
