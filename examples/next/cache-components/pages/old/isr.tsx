export { default } from '../../../web/pages/old/isr'
export { getStaticProps } from '../../../web/pages/old/isr'
