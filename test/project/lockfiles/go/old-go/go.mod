module example.org/old-go

go 1.16

require (
	example.com/log v1.2.0
	example.com/old v1.0.0
)
