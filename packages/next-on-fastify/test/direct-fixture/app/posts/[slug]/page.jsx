export const dynamicParams = true

export function generateStaticParams() {
  return [{ slug: 'first' }]
}

export default async function Page({ params }) {
  const { slug } = await params
  return <h1>{slug}</h1>
}
