module example.org/a

go 1.22

require (
	example.com/text v0.4.1
	example.org/b v0.0.0
)
