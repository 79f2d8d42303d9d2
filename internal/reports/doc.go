// Package reports answers: which test shows that what users of other harnesses have
// met does not happen here?
//
// Its tables, testdata/*.txt, name for each report the tests and scripts that have its
// shape, in our own words; its test holds that they exist, and that no report is
// without one, apart from those of the class "later", about what there is not yet.
// There is nothing in the package besides.
package reports
