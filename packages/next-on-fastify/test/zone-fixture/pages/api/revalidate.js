export default async function handler(req, res) {
  await res.revalidate('/old')
  res.send('revalidated')
}
