package event

import (
	"reflect"
	"testing"
)

// Of two limits the stricter one holds; every limit is looked at.
func TestLimitsWithin(t *testing.T) {
	var loose, strict, none Limits
	for i := range reflect.TypeFor[Limits]().NumField() {
		reflect.ValueOf(&loose).Elem().Field(i).SetInt(int64(20 + i))
		reflect.ValueOf(&strict).Elem().Field(i).SetInt(int64(10 + i))
	}
	for _, c := range []struct{ l, o, want Limits }{{loose, strict, strict}, {strict, loose, strict}, {none, strict, strict}, {strict, none, strict}, {none, none, none}} {
		if got := c.l.Within(c.o); got != c.want {
			t.Errorf("%+v within %+v is %+v", c.l, c.o, got)
		}
	}
}
