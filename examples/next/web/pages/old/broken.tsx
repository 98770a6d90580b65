import type { GetServerSideProps } from 'next'

export const getServerSideProps: GetServerSideProps = () => {
  throw new Error('This page is broken')
}

export default function Broken(): null {
  return null
}
