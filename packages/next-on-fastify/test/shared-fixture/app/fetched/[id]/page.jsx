export function generateStaticParams() {
  return []
}

export default async function Page() {
  const response = await fetch(process.env.VERSION_URL, { cache: 'force-cache', next: { tags: ['fetched'] } })
  return <h1>{`version ${await response.text()}`}</h1>
}
