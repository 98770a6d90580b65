export default async function handler(_, response) {
  await response.revalidate('/isr')
  response.json({ revalidated: true })
}
